//! A deduplication whose documents have been read.

use super::groups::keep_ranks::KeepKeys;
use super::settings::job::DedupJob;
use crate::skeleton::context::RunContext;
use crate::skeleton::run_documents::RunDocuments;
use crate::table::document_table::DocumentTable;
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;

/// What the stages after the first reading have in common.
#[derive(Clone, Copy)]
pub struct JobContext<'a> {
    /// The job.
    pub job: &'a DedupJob,
    /// The documents, those of the reference first.
    pub documents: RunDocuments<'a>,
    /// The order in which they are kept.
    pub keys: &'a KeepKeys,
    /// Memory and temporary space.
    pub space: SpillSpace<'a>,
}

impl<'a> JobContext<'a> {
    /// The inputs and resources.
    pub fn run(&self) -> &RunContext<'a> {
        &self.documents.run
    }

    /// The rows and labels of the documents.
    pub fn table(&self) -> &'a DocumentTable {
        self.documents.table
    }

    /// Notified of progress.
    pub fn progress(&self) -> &'a Progress {
        self.documents.run.progress
    }

    /// Whether only documents of the reference drop others.
    pub fn only_against(&self) -> bool {
        self.run().references > 0 && self.job.against_only
    }
}
