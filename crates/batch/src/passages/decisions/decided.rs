//! The decisions of a run, stored in the work directory: removed ranges, dropped documents, and the
//! most frequent passages.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use serde_json::{Map, Value, json};

use super::item::ItemRecord;
use super::ranges::{RangeCursor, RemovedRange};
use super::repeated::{Repeated, RepeatedTotals};
use super::too_little::drop_too_little;
use crate::passages::first_reading::documents::{PassageRow, PassageTable};
use crate::passages::search::PassageSearch;
use crate::passages::settings::action::Action;
use crate::skeleton::context::RunContext;
use crate::table::bits::Bits;
use crate::table::numbering::Numbering;
use crate::workdir::{DECIDED, FinishedFile, Work, describe};
use crate::{Error, ErrorKind, Result};
use simtool_engine::Progress;
use simtool_files::RecordFile;

/// The files that the marker describes.
pub const RANGES: &str = "ranges";
const DROPPED: &str = "dropped";
const REPEATED: &str = "repeated";
pub const ORIGINS: &str = "origins";
pub const ITEMS: &str = "items";
/// Records that are written at a time.
const BLOCK: usize = 8192;

/// The place that a removed range repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Origin {
    /// The number of the document.
    pub document: u32,
    /// The first byte in its text.
    pub start: u32,
    /// The number of bytes; 0 if there is no such place.
    pub length: u32,
    /// The number of words that are removed.
    pub words: u32,
}

/// The decisions of a run.
pub struct PassageDecisions {
    /// The removed ranges, sorted and without overlaps.
    pub ranges: RecordFile<RemovedRange>,
    /// For each of them its origin, if the search stores origins.
    pub origins: Option<RecordFile<Origin>>,
    /// The reference items, in input order, if the search has such.
    pub items: Option<RecordFile<ItemRecord>>,
    /// The documents that the action drops.
    pub dropped: Bits,
    /// The most frequent passages, in order.
    pub most_frequent: Vec<Repeated>,
    /// Totals of the passages that are removed.
    pub totals: RepeatedTotals,
}

/// The results of a search.
pub struct FoundPassages {
    /// The file of the removed ranges.
    pub ranges: FinishedFile,
    /// The file of their origins, if the search stores them.
    pub origins: Option<FinishedFile>,
    /// The file of the reference items, if the search has such.
    pub items: Option<FinishedFile>,
    /// The most frequent passages, in order.
    pub most_frequent: Vec<Repeated>,
    /// Totals of the passages that are removed.
    pub totals: RepeatedTotals,
}

impl PassageDecisions {
    /// Whether the decisions are complete.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the marker is damaged.
    pub fn is_complete(work: &Work) -> Result<bool> {
        Ok(work.published(DECIDED)?.is_some())
    }

    /// The stored decisions about `count` documents; `None` if they are not complete.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if a file is damaged; [`ErrorKind::Read`];
    /// [`ErrorKind::Interrupted`].
    pub fn load(work: &Work, count: u64, progress: &Progress) -> Result<Option<PassageDecisions>> {
        let Some(marker) = work.published(DECIDED)? else {
            return Ok(None);
        };
        let files = |marker: &Map<String, Value>| marker.get("files").cloned().unwrap_or_default();
        work.verify(&[RANGES, DROPPED, REPEATED], &files(&marker), progress)?;
        let has = |name: &str| marker.get(name).and_then(Value::as_bool) == Some(true);
        for name in [ORIGINS, ITEMS].into_iter().filter(|name| has(name)) {
            work.verify(&[name], &files(&marker), progress)?;
        }
        let origins = has(ORIGINS).then(|| RecordFile::open(&work.path(ORIGINS)));
        let items = has(ITEMS).then(|| RecordFile::open(&work.path(ITEMS)));
        let number = |name: &str| marker.get(name).and_then(Value::as_u64).unwrap_or_default();
        let mut dropped = Bits::none_of(count);
        let numbers = RecordFile::<u32>::open(&work.path(DROPPED))?;
        numbers.for_each_block(BLOCK, |_, numbers| {
            numbers.iter().for_each(|number| dropped.insert(*number));
            Ok(())
        })?;
        let mut most_frequent = Vec::new();
        let units = RecordFile::<Repeated>::open(&work.path(REPEATED))?;
        let length = usize::try_from(units.len()).unwrap_or(usize::MAX);
        units.read(0, length, &mut most_frequent)?;
        Ok(Some(PassageDecisions {
            ranges: RecordFile::open(&work.path(RANGES))?,
            origins: origins.transpose()?,
            items: items.transpose()?,
            dropped,
            most_frequent,
            totals: RepeatedTotals {
                different: number("different"),
                occurrences: number("occurrences"),
                removed: number("removed"),
            },
        }))
    }

    /// Stores what a search found, and which documents it drops for it: `is_gone` says, of a document
    /// and the number of its bytes in removed ranges, whether nothing remains if they are cut.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; those of reading documents again.
    pub fn store<S: PassageSearch>(
        search: &S,
        run: RunContext<'_>,
        (table, numbering): (&PassageTable, &Numbering<'_>),
        found: FoundPassages,
        is_gone: impl Fn(u32, u64, &PassageRow) -> bool,
    ) -> Result<()> {
        let (work, common) = (run.work, search.common());
        let documents = table.rows.len();
        let (mut dropped, mut rows) = (Bits::none_of(documents), table.cursor());
        let ranges = RecordFile::<RemovedRange>::open(&work.path(RANGES))?;
        for_each_document(&ranges, |document, removed| {
            let row = rows.row(document)?;
            let is_dropped = match common.action {
                Action::Mark | Action::Mask => false,
                Action::Cut => is_gone(document, removed, &row),
                Action::DropDocument(share) => share.is_reached_by(removed, row.text_bytes),
            };
            if is_dropped {
                dropped.insert(document);
            }
            Ok(())
        })?;
        if common.remains.has_rule() {
            drop_too_little(search, run, numbering, &ranges, &mut dropped)?;
        }
        let mut repeated = work.create_file(REPEATED)?;
        repeated.append(bytemuck::cast_slice(&found.most_frequent))?;
        let (has_origins, has_items) = (found.origins.is_some(), found.items.is_some());
        let mut files = vec![
            found.ranges,
            store_numbers(work, &dropped, documents)?,
            repeated.publish()?,
        ];
        files.extend(found.origins);
        files.extend(found.items);
        let RepeatedTotals {
            different,
            occurrences,
            removed,
        } = found.totals;
        let marker = [
            ("files", describe(&files).into()),
            (ORIGINS, json!(has_origins)),
            (ITEMS, json!(has_items)),
            ("different", json!(different)),
            ("occurrences", json!(occurrences)),
            ("removed", json!(removed)),
        ];
        let marker = marker.map(|(name, value)| (name.to_owned(), value));
        work.publish(DECIDED, marker.into_iter().collect())
    }
}

impl PassageDecisions {
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
fn store_numbers(work: &Work, set: &Bits, count: u64) -> Result<FinishedFile> {
    let mut file = work.create_file(DROPPED)?;
    let numbers = 0..u32::try_from(count).unwrap_or(u32::MAX);
    for number in numbers.filter(|&number| set.contains(number)) {
        file.append(&number.to_ne_bytes())?;
    }
    file.publish()
}

/// Writes sorted ranges, those that overlap as one.
///
/// # Errors
/// [`ErrorKind::Write`]; those of `ranges`.
pub fn store_ranges(
    work: &Work,
    ranges: impl Iterator<Item = Result<RemovedRange>>,
) -> Result<FinishedFile> {
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

/// The error for a place in a text that has no such place.
pub fn misplaced(file: &std::path::Path) -> Error {
    let message = "has another text at a place with a repeated unit: it changed while it was read \
                   (start again with --restart)";
    Error::new(ErrorKind::Changed, message).in_file(file)
}
