//! The documents of a run, once they have been read.

use super::context::RunContext;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::row::{Row, TableRow};
use simtool_corpus::Source;

/// A run and its documents.
#[derive(Clone, Copy)]
pub struct RunDocuments<'a, R = Row> {
    /// The inputs and resources.
    pub run: RunContext<'a>,
    /// The documents.
    pub table: &'a DocumentTable<R>,
    /// Their numbers.
    pub numbering: &'a Numbering<'a>,
}

impl<'a, R: TableRow> RunDocuments<'a, R> {
    /// The number of documents to compare with, which have the first numbers.
    pub fn references(&self) -> u32 {
        self.numbering.documents_before(self.run.references)
    }

    /// The sources of the input, with their numbers.
    pub fn own_sources(&self) -> impl Iterator<Item = (u32, &'a Source)> + use<'a, R> {
        let sources = (0..).zip(self.run.sources);
        sources.skip(self.run.references as usize)
    }
}
