//! The removed ranges with their origins, and the most repeated passages.

use bytemuck::{Pod, Zeroable, bytes_of};

use super::occurrences::PassageCounter;
use super::records::{ByteRange, KeptBytes, UnitRange};
use crate::Result;
use crate::passages::decisions::decided::{ORIGINS, Origin, RANGES};
use crate::passages::decisions::ranges::RemovedRange;
use crate::passages::decisions::repeated::{MostFrequent, Repeated, RepeatedTotals};
use crate::passages::first_reading::documents::PassageTable;
use crate::workdir::{FinishedFile, Work};
use simtool_engine::Progress;
use simtool_files::{RecordCursor, RecordFile, Sorted, Sorter};

/// Ranges between two looks at whether to stop.
const CHECKED_RANGES: u64 = 1 << 16;

/// A removed range by the passage that it repeats. The order is that of passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct PassageRange {
    /// The kept document, and the first window and the number of windows there.
    passage: [u32; 3],
    /// The first byte and the length there.
    text: [u32; 2],
    /// The bytes of the range.
    bytes: u32,
}

/// What ranges are made of.
pub struct RangeParts<'a> {
    /// In units.
    pub units: &'a RecordFile<UnitRange>,
    /// In bytes.
    pub bytes: &'a RecordFile<ByteRange>,
    /// The kept places, by range.
    pub kept: Sorted<KeptBytes>,
    /// Stops the run.
    pub progress: &'a Progress,
}

impl RangeParts<'_> {
    /// Writes the removed ranges, which it counts, and, if `has_origins`, where each is kept; pushes
    /// them to `passages`.
    ///
    /// # Errors
    /// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn store(
        self,
        work: &Work,
        has_origins: bool,
        passages: &mut Sorter<PassageRange>,
    ) -> Result<((FinishedFile, u64), FinishedFile)> {
        let mut ranges = work.create_file(RANGES)?;
        let mut origins = work.create_file(ORIGINS)?;
        let mut kept = self.kept.peekable();
        let mut units = RecordCursor::new(self.units);
        let mut bytes = RecordCursor::new(self.bytes);
        let mut count = 0;
        for number in 0..self.units.len() {
            if number.is_multiple_of(CHECKED_RANGES) {
                self.progress.check()?;
            }
            let (units, bytes) = (units.get(number)?, bytes.get(number)?);
            let is_own = |kept: &Result<KeptBytes>| match kept {
                Ok(kept) => u64::from(kept.range) <= number,
                Err(_) => true,
            };
            let place = kept.next_if(is_own).transpose()?;
            if bytes.length == 0 {
                continue;
            }
            ranges.append(bytes_of(&RemovedRange {
                document: units.document,
                start: bytes.start,
                length: bytes.length,
                why: units.why,
                count: units.count.into(),
            }))?;
            count += 1;
            let mut origin = Origin {
                words: bytes.words,
                ..Origin::default()
            };
            if let Some(place) = place {
                if has_origins {
                    origin.document = place.document;
                    origin.start = place.start;
                    origin.length = place.length;
                }
                if place.windows > 0 {
                    passages.push(PassageRange {
                        passage: [place.document, place.window, place.windows],
                        text: [place.start, place.length],
                        bytes: bytes.length,
                    })?;
                }
            }
            origins.append(bytes_of(&origin))?;
        }
        Ok(((ranges.publish()?, count), origins.publish()?))
    }
}

/// The most repeated passages, at most `most`, and the totals of all.
///
/// # Errors
/// Errors of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn most_repeated(
    passages: Sorted<PassageRange>,
    most: usize,
    table: &PassageTable,
    mut counter: PassageCounter<'_>,
    progress: &Progress,
) -> Result<(Vec<Repeated>, RepeatedTotals)> {
    let mut found = MostFrequent::new(most);
    let mut totals = RepeatedTotals::default();
    let mut rows = table.cursor();
    let mut end = |current: Option<([u32; 3], Repeated)>| -> Result<()> {
        let Some((place, mut passage)) = current else {
            return Ok(());
        };
        let others = counter.of(place)?;
        let has_site = rows.row(passage.document)?.site != 0;
        passage.count = 1 + others.count;
        passage.documents = 1 + u64::from(others.documents);
        passage.sites = u64::from(has_site) + u64::from(others.sites);
        totals.different += 1;
        totals.occurrences += passage.count;
        found.note(passage);
        Ok(())
    };
    let mut current: Option<([u32; 3], Repeated)> = None;
    let mut seen = 0u64;
    for range in passages {
        let range = range?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_RANGES) {
            progress.check()?;
        }
        if current
            .as_ref()
            .is_none_or(|(place, _)| *place != range.passage)
        {
            let next = Repeated {
                document: range.passage[0],
                start: range.text[0],
                length: range.text[1],
                ..Repeated::zeroed()
            };
            end(current.replace((range.passage, next)))?;
        }
        if let Some((_, passage)) = &mut current {
            passage.removed += 1;
            passage.removed_bytes += u64::from(range.bytes);
        }
    }
    end(current)?;
    Ok((found.into_sorted(), totals))
}
