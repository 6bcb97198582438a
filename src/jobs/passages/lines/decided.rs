//! The decisions of a run, stored in the work directory: removed ranges, dropped documents, and the
//! most frequent units.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::counting::{Counted, RepeatedUnit, UnitTotals};
use super::job::Job;
use crate::engine::documents::ChunkDocuments;
use crate::engine::pipeline::Pipeline;
use crate::engine::text_words::WordReader;
use crate::io::RecordFile;
use crate::jobs::dedup::{Bits, Finished, Numbering, Work, changed, describe};
use crate::jobs::passages::Action;
use crate::jobs::passages::documents::{self, DocumentTable};
use crate::jobs::passages::ranges::{RangeCursor, RemovedRange};
use crate::kernel::Level;
use crate::sketch::Needs;
use crate::text::units::{UnitKind, cut, sentences};
use crate::{Error, ErrorKind, Result};

/// The marker, and the files that it describes besides those of the documents.
const MARKER: &str = "decided";
const RANGES: &str = "ranges";
const DROPPED: &str = "dropped";
const REPEATED: &str = "repeated";
/// Records that are written at a time.
const BLOCK: usize = 8192;

/// The decisions of a run.
pub struct Decided {
    /// The removed ranges, sorted and without overlaps.
    pub ranges: RecordFile<RemovedRange>,
    /// The documents that the action drops.
    pub dropped: Bits,
    /// The most frequent units, in order.
    pub most_frequent: Vec<RepeatedUnit>,
    /// Totals of the units that are removed.
    pub totals: UnitTotals,
}

/// Documents that are read again to see what remains of them.
pub struct Rereading<'a> {
    /// Reads the sources.
    pub pipeline: Pipeline<'a>,
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// The instruction set.
    pub level: Level,
}

impl Decided {
    /// Whether the decisions are complete.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the marker is damaged.
    pub fn is_complete(work: &Work) -> Result<bool> {
        Ok(work.published(MARKER)?.is_some())
    }

    /// The stored decisions about `documents` documents; `None` if they are not complete.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a file is damaged; [`ErrorKind::Read`].
    pub fn load(work: &Work, documents: u64) -> Result<Option<Decided>> {
        let (Some(gathered), Some(marker)) = (work.published("gathered")?, work.published(MARKER)?)
        else {
            return Ok(None);
        };
        let files = |marker: &Map<String, Value>| marker.get("files").cloned().unwrap_or_default();
        work.verify(&documents::FILES, &files(&gathered))?;
        work.verify(&[RANGES, DROPPED, REPEATED], &files(&marker))?;
        let count = |name: &str| marker.get(name).and_then(Value::as_u64).unwrap_or_default();
        let mut dropped = Bits::none_of(documents);
        let numbers = RecordFile::<u32>::open(&work.path(DROPPED))?;
        numbers.for_each_block(BLOCK, |_, numbers| {
            numbers.iter().for_each(|number| dropped.insert(*number));
            Ok(())
        })?;
        let mut most_frequent = Vec::new();
        let units = RecordFile::<RepeatedUnit>::open(&work.path(REPEATED))?;
        let length = usize::try_from(units.len()).unwrap_or(usize::MAX);
        units.read(0, length, &mut most_frequent)?;
        Ok(Some(Decided {
            ranges: RecordFile::open(&work.path(RANGES))?,
            dropped,
            most_frequent,
            totals: UnitTotals {
                units: count("units"),
                occurrences: count("occurrences"),
                removed: count("removed"),
            },
        }))
    }

    /// Stores what counting found, and which documents `job` drops for it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; those of reading documents again.
    pub fn store(
        job: &Job,
        work: &Work,
        counted: Counted,
        table: &DocumentTable,
        rereading: &Rereading<'_>,
    ) -> Result<()> {
        let ranges = store_ranges(work, counted.ranges)?;
        let documents = table.rows.len();
        let (mut dropped, mut rows) = (Bits::none_of(documents), table.cursor());
        let opened = RecordFile::<RemovedRange>::open(&work.path(RANGES))?;
        for_each_document(&opened, |document, removed| {
            let row = rows.row(document)?;
            let is_dropped = match job.action {
                Action::Mark | Action::Mask => false,
                Action::Cut => removed >= row.unit_bytes,
                Action::DropDocument(share) => share.is_reached_by(removed, row.text_bytes),
            };
            if is_dropped {
                dropped.insert(document);
            }
            Ok(())
        })?;
        if job.remains.has_rule() {
            rereading.drop_too_little(job, &opened, &mut dropped)?;
        }
        let mut repeated = work.create_file(REPEATED)?;
        repeated.append(bytemuck::cast_slice(&counted.most_frequent))?;
        let files = [
            ranges,
            store_numbers(work, &dropped, documents)?,
            repeated.publish()?,
        ];
        let UnitTotals {
            units,
            occurrences,
            removed,
        } = counted.totals;
        let marker = [
            ("files", describe(&files).into()),
            ("units", json!(units)),
            ("occurrences", json!(occurrences)),
            ("removed", json!(removed)),
        ];
        let marker = marker.map(|(name, value)| (name.to_owned(), value));
        work.publish(MARKER, marker.into_iter().collect())
    }
}

impl Decided {
    /// Whether one of the documents `numbers` has a removed range.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn has_any_of(&self, numbers: Range<u32>) -> Result<bool> {
        let mut cursor = RangeCursor::new(&self.ranges);
        let next = cursor.seek(numbers.start)?;
        Ok(next.is_some_and(|document| document < numbers.end))
    }
}

/// Writes the numbers below `count` that are in a set.
fn store_numbers(work: &Work, set: &Bits, count: u64) -> Result<Finished> {
    let mut file = work.create_file(DROPPED)?;
    let numbers = 0..u32::try_from(count).unwrap_or(u32::MAX);
    for number in numbers.filter(|&number| set.contains(number)) {
        file.append(&number.to_ne_bytes())?;
    }
    file.publish()
}

/// Writes the ranges, those that overlap as one.
fn store_ranges(
    work: &Work,
    ranges: impl Iterator<Item = Result<RemovedRange>>,
) -> Result<Finished> {
    let mut file = work.create_file(RANGES)?;
    let mut block: Vec<RemovedRange> = Vec::with_capacity(BLOCK);
    for range in ranges {
        let range = range?;
        match block.last_mut() {
            Some(last) if last.overlaps(&range) => last.join(&range),
            _ => {
                if let BLOCK.. = block.len() {
                    file.append(bytemuck::cast_slice(&block))?;
                    block.clear();
                }
                block.push(range);
            }
        }
    }
    file.append(bytemuck::cast_slice(&block))?;
    file.publish()
}

/// Passes each document with removed ranges to `visit`, with their bytes.
fn for_each_document(
    ranges: &RecordFile<RemovedRange>,
    mut visit: impl FnMut(u32, u64) -> Result<()>,
) -> Result<()> {
    let mut current: Option<(u32, u64)> = None;
    ranges.for_each_block(BLOCK, |_, block| {
        for range in block {
            match &mut current {
                Some((document, bytes)) if *document == range.document => {
                    *bytes += u64::from(range.length);
                }
                _ => {
                    let next = (range.document, u64::from(range.length));
                    if let Some((document, bytes)) = current.replace(next) {
                        visit(document, bytes)?;
                    }
                }
            }
        }
        Ok(())
    })?;
    current.map_or(Ok(()), |(document, bytes)| visit(document, bytes))
}

impl Rereading<'_> {
    /// Adds the documents of which too little remains to `dropped`.
    fn drop_too_little(
        &self,
        job: &Job,
        ranges: &RecordFile<RemovedRange>,
        dropped: &mut Bits,
    ) -> Result<()> {
        let start = || WordReader::new(job.remains.tokenizer, Needs::HASHES, self.level);
        let work = |words: &mut WordReader, documents: ChunkDocuments<'_>| {
            let (chunk, source) = (documents.chunk, documents.source);
            let (first, count) = self
                .numbering
                .first_of(chunk)
                .ok_or_else(|| changed(source))?;
            let changed = ranges_of(ranges, first..first + count)?;
            let mut short = Vec::new();
            let is_wanted = |ordinal| changed.of(first.saturating_add(ordinal)).next().is_some();
            documents.for_each_wanted(is_wanted, |ordinal, document| {
                let number = first.saturating_add(ordinal);
                if let Ok(document) = document {
                    let own: Vec<Range<usize>> = changed.of(number).collect();
                    let rest = cut(document.text, &own, job.kind == UnitKind::Paragraph);
                    short.extend(is_too_little(job, words, &rest).then_some(number));
                }
                Ok(())
            })?;
            Ok(short)
        };
        self.pipeline
            .run_documents_in_order(start, work, |short: Vec<u32>| {
                short.iter().for_each(|number| dropped.insert(*number));
                Ok(())
            })
    }
}

/// Whether a text has fewer words or sentences than have to remain.
fn is_too_little(job: &Job, words: &mut WordReader, rest: &[u8]) -> bool {
    let remains = job.remains;
    let found = words.read(rest).hashes().len() as u64;
    let least = usize::try_from(remains.sentences).unwrap_or(usize::MAX);
    found < remains.words || sentences(rest).take(least).count() < least
}

/// The removed ranges of some consecutive documents.
pub struct ChunkRanges(Vec<RemovedRange>);

/// The removed ranges of the documents `numbers`.
///
/// # Errors
/// [`ErrorKind::Read`].
pub fn ranges_of(ranges: &RecordFile<RemovedRange>, numbers: Range<u32>) -> Result<ChunkRanges> {
    let mut cursor = RangeCursor::new(ranges);
    cursor.seek(numbers.start)?;
    let mut all = Vec::new();
    for number in numbers {
        cursor.for_each_of(number, |range| {
            all.push(*range);
            Ok(())
        })?;
    }
    Ok(ChunkRanges(all))
}

impl ChunkRanges {
    /// The bytes of the removed ranges of a document, in order.
    pub fn of(&self, number: u32) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = self.0.partition_point(|range| range.document < number);
        self.0[first..]
            .iter()
            .take_while(move |range| range.document == number)
            .map(RemovedRange::bytes)
    }
}

/// The error for a place in a text that has no such place.
pub fn misplaced(file: &std::path::Path) -> Error {
    let message = "has another text at a place with a repeated unit: it changed while it was read \
                   (start again with --restart)";
    Error::new(ErrorKind::Changed, message).in_file(file)
}
