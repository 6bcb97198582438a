//! The removed ranges with their origins, and the most repeated passages.

use bytemuck::{Pod, Zeroable, bytes_of};

use super::records::{ByteRange, KeptBytes, UnitRange};
use crate::Result;
use crate::engine::Progress;
use crate::io::{RecordCursor, RecordFile, Sorted, Sorter};
use crate::jobs::dedup::{Finished, Work};
use crate::jobs::passages::decided::{ORIGINS, Origin, RANGES};
use crate::jobs::passages::documents::DocumentTable;
use crate::jobs::passages::ranges::RemovedRange;
use crate::jobs::passages::repeated::{MostFrequent, Repeated, RepeatedTotals};

/// Ranges between two looks at whether to stop.
const CHECKED_RANGES: u64 = 1 << 16;

/// A removed range by the passage that it repeats. The order is that of passages, then of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct PassageRange {
    /// The kept document, and the first byte and the length there.
    passage: [u32; 3],
    /// The site of the range's document: the higher and the lower half.
    site: [u32; 2],
    /// The document of the range.
    document: u32,
    bytes: u32,
    count: u32,
}

/// What ranges are made of.
pub struct RangeParts<'a> {
    /// In units.
    pub units: &'a RecordFile<UnitRange>,
    /// In bytes.
    pub bytes: &'a RecordFile<ByteRange>,
    /// The kept places, by range.
    pub kept: Sorted<KeptBytes>,
    /// All documents.
    pub table: &'a DocumentTable,
    /// Stops the run.
    pub progress: &'a Progress,
}

impl RangeParts<'_> {
    /// Writes the removed ranges and, if `has_origins`, where each is kept; pushes them to
    /// `passages`.
    ///
    /// # Errors
    /// Those of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn store(
        self,
        work: &Work,
        has_origins: bool,
        passages: &mut Sorter<PassageRange>,
    ) -> Result<(Finished, Finished)> {
        let mut ranges = work.create_file(RANGES)?;
        let mut origins = work.create_file(ORIGINS)?;
        let mut kept = self.kept.peekable();
        let mut units = RecordCursor::new(self.units);
        let mut bytes = RecordCursor::new(self.bytes);
        let mut rows = self.table.cursor();
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
                let site = rows.row(units.document)?.site;
                passages.push(PassageRange {
                    passage: [place.document, place.start, place.length],
                    site: halves(site),
                    document: units.document,
                    bytes: bytes.length,
                    count: units.count,
                })?;
            }
            origins.append(bytes_of(&origin))?;
        }
        Ok((ranges.publish()?, origins.publish()?))
    }
}

/// The higher and the lower half.
fn halves(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

/// A passage whose ranges are counted.
struct Counted {
    passage: Repeated,
    /// The site of the kept document, and whether it and the document have a range, too.
    kept_site: [u32; 2],
    has_kept_site: bool,
    has_kept: bool,
    /// The last range.
    last: Option<PassageRange>,
}

impl Counted {
    fn new(range: &PassageRange, table: &DocumentTable) -> Result<Counted> {
        let [document, start, length] = range.passage;
        let kept_site = halves(table.rows.get(document.into())?.site);
        Ok(Counted {
            passage: Repeated {
                document,
                start,
                length,
                ..Repeated::zeroed()
            },
            kept_site,
            has_kept_site: kept_site == [0; 2],
            has_kept: false,
            last: None,
        })
    }

    fn add(&mut self, range: PassageRange) {
        let last = self.last.replace(range);
        let passage = &mut self.passage;
        let is_new = |of: fn(&PassageRange) -> [u32; 2]| {
            u64::from(last.as_ref().map(of) != Some(of(&range)))
        };
        passage.count = passage.count.max(range.count.into());
        passage.removed += 1;
        passage.removed_bytes += u64::from(range.bytes);
        passage.documents += is_new(|range| [range.document, 0]);
        if range.site != [0; 2] {
            passage.sites += is_new(|range| range.site);
        }
        self.has_kept |= range.document == passage.document;
        self.has_kept_site |= range.site == self.kept_site;
    }

    fn end(self) -> Repeated {
        Repeated {
            documents: self.passage.documents + u64::from(!self.has_kept),
            sites: self.passage.sites + u64::from(!self.has_kept_site),
            ..self.passage
        }
    }
}

/// The most repeated passages, at most `most`, and the totals of all.
///
/// # Errors
/// Those of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn most_repeated(
    passages: Sorted<PassageRange>,
    most: usize,
    table: &DocumentTable,
    progress: &Progress,
) -> Result<(Vec<Repeated>, RepeatedTotals)> {
    let mut found = MostFrequent::new(most);
    let mut totals = RepeatedTotals::default();
    let mut end = |counted: Option<Counted>| {
        if let Some(counted) = counted {
            let passage = counted.end();
            totals.different += 1;
            totals.occurrences += passage.count;
            totals.removed += passage.removed;
            found.note(passage);
        }
    };
    let mut current: Option<([u32; 3], Counted)> = None;
    let mut seen = 0u64;
    for range in passages {
        let range = range?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_RANGES) {
            progress.check()?;
        }
        match &mut current {
            Some((passage, counted)) if *passage == range.passage => counted.add(range),
            _ => {
                let mut counted = Counted::new(&range, table)?;
                counted.add(range);
                let before = current.replace((range.passage, counted));
                end(before.map(|(_, counted)| counted));
            }
        }
    }
    end(current.map(|(_, counted)| counted));
    Ok((found.into_sorted(), totals))
}
