//! The documents that are written as shards, with passages cut or masked.

use std::ops::Range;

use super::decided::Decided;
use super::documents::{PassageRow, PassageTable};
use super::ranges::{RangesOfDocuments, RemovedRange};
use super::rewriting::changed_text;
use super::search::Search;
use crate::Result;
use crate::shards::{NewTexts, ShardDocuments, StreamDocuments};
use crate::table::bits::Bits;
use crate::table::numbering::Numbering;
#[cfg(feature = "parquet")]
use simtool_corpus::Place;
use simtool_corpus::Source;
#[cfg(feature = "parquet")]
use simtool_files::RecordCursor;

/// The documents of a search.
pub struct ChangedDocuments<'a, S> {
    /// The search.
    pub search: &'a S,
    /// All documents.
    pub table: &'a PassageTable,
    /// The decisions.
    pub decided: &'a Decided,
}

impl<S: Search> ChangedDocuments<'_, S> {
    /// The documents of the input that stay, without those that could not be read. The first
    /// `references` sources are compared with only.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn that_stay(
        &self,
        directory: &'static str,
        numbering: &Numbering<'_>,
        references: u32,
    ) -> Result<StreamDocuments> {
        let references = numbering.documents_before(references);
        let (mut numbers, mut count) = (Bits::none_of(numbering.documents()), 0);
        self.table
            .rows
            .for_each_block(8192, |first, rows: &[PassageRow]| {
                for (number, row) in (first as u32..).zip(rows) {
                    let is_read = number >= references && !row.is_skipped();
                    if is_read && !self.decided.dropped.contains(number) {
                        numbers.insert(number);
                        count += 1;
                    }
                }
                Ok(())
            })?;
        Ok(StreamDocuments {
            directory,
            numbers,
            count,
        })
    }
}

impl<S: Search> ShardDocuments for ChangedDocuments<'_, S> {
    #[cfg(feature = "parquet")]
    fn places(&self) -> Box<dyn FnMut(u32) -> Result<Place> + '_> {
        let mut rows = RecordCursor::new(&self.table.rows);
        Box::new(move |number| Ok(rows.get(number.into())?.place))
    }

    fn new_texts(&self, numbers: Range<u32>) -> Result<Option<Box<dyn NewTexts + '_>>> {
        if !self.search.common().action.changes_texts() {
            return Ok(None);
        }
        let ranges = RangesOfDocuments::read(&self.decided.ranges, numbers)?;
        let search = self.search;
        Ok(Some(Box::new(ChangedTexts { search, ranges })))
    }
}

/// The texts of some documents.
struct ChangedTexts<'a, S> {
    search: &'a S,
    ranges: RangesOfDocuments<RemovedRange>,
}

impl<S: Search> NewTexts for ChangedTexts<'_, S> {
    fn has(&self, number: u32) -> bool {
        !self.ranges.of(number).is_empty()
    }

    fn of(&self, number: u32, source: &Source, text: &[u8]) -> Result<Vec<u8>> {
        let removed: Vec<Range<usize>> = self.ranges.bytes_of(number).collect();
        changed_text(self.search, source, text, &removed)
    }
}
