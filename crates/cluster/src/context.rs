//! What all tasks of a job know.

use std::path::Path;

use simtool_batch::KnownDocuments;
use simtool_batch::dedup::{ClusterRule, DedupJob, UrlRule};
use simtool_core::kernel::Level;
use simtool_core::sketch::{Method, SignedMethod};
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_engine::Progress;
use simtool_engine::methods::build_without_statistics;
use simtool_files::Sorter;

use crate::plan::Plan;
use crate::records::rank_of;
use crate::work::{Facts, Inbox, Work};

/// Bytes of memory in which a task sorts.
const SORTED: usize = 32 << 20;

/// What all tasks of a job know.
pub struct Context<'a> {
    /// The directory of the job.
    pub work: &'a Work,
    /// What it reads.
    pub plan: &'a Plan,
    /// Its settings.
    pub job: &'a DedupJob,
    /// The indexes that the input is compared with.
    pub known: Option<&'a dyn KnownDocuments>,
    /// A directory for files of this task.
    pub temporary: &'a Path,
    /// Stops the task.
    pub progress: &'a Progress,
}

impl<'a> Context<'a> {
    /// The number of tasks of a stage, of homes, and of parts of records.
    pub fn tasks(&self) -> usize {
        self.plan.tasks.len()
    }

    /// The stage that made the homes.
    pub fn homes(&self) -> &'static str {
        match self.is_in_order() {
            true => "read",
            false => "sort",
        }
    }

    /// The stage that compared the words of the documents of a home.
    pub fn words(&self) -> &'static str {
        match self.has_urls() {
            true => "words",
            false => self.homes(),
        }
    }

    /// Whether documents are removed for others that contain them. Then, each one is compared by all its
    /// shingles, and sketches are not needed.
    pub fn has_containment(&self) -> bool {
        self.job.verification.least.is_containment()
    }

    /// Whether URLs are compared.
    pub fn has_urls(&self) -> bool {
        self.job.url != UrlRule::Ignored
    }

    /// Whether the keep order is that of the input.
    pub fn is_in_order(&self) -> bool {
        is_in_order(self.plan, self.job)
    }

    /// The files of the job, of which a task can open those that it reads.
    ///
    /// # Errors
    /// Errors of finding objects of a server.
    pub fn sources(&self, task: usize) -> Result<Vec<Source>> {
        self.plan.sources(self.job, task)
    }

    /// The rank of the first document that is not of the other collection.
    pub fn references(&self) -> i64 {
        rank_of(self.plan.reference_tasks, 0)
    }

    /// Whether documents are connected by chains.
    pub fn has_components(&self) -> bool {
        self.job.clusters == ClusterRule::Components
    }

    /// The files of a stage.
    pub fn inbox<'s>(&'s self, stage: &'s str) -> Inbox<'s> {
        Inbox::new(self.work, stage, self.tasks())
    }

    /// Sorts records, in files if they do not fit into a small memory.
    pub fn sorter<R: bytemuck::Pod + Ord>(&self) -> Sorter<R> {
        Sorter::new(self.temporary, SORTED)
    }

    /// The indexes that the input is compared with.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if they are not as they were when the job began.
    pub fn known(&self) -> Result<Option<&'a dyn KnownDocuments>> {
        let state = self.known.map(KnownDocuments::state).transpose()?;
        match state == self.plan.known {
            true => Ok(self.known),
            false => {
                let message =
                    "the index changed during the job (start again with another work directory)";
                Err(Error::new(ErrorKind::Changed, message))
            }
        }
    }

    /// The method; `None` if only equal documents are duplicates.
    ///
    /// # Errors
    /// Errors of its parameters.
    pub fn method(&self) -> Result<Option<Box<dyn Method>>> {
        Ok(self.signed_method()?.map(SignedMethod::into_plain))
    }

    /// The method that makes the sketches of homes: with signatures, if an index has them.
    ///
    /// # Errors
    /// Errors of its parameters.
    pub fn signed_method(&self) -> Result<Option<SignedMethod>> {
        if self.job.is_by_equality() {
            return Ok(None);
        }
        if let Some(known) = self.known {
            return known.method().map(Some);
        }
        let common = self.job.common(Level::best());
        let method = build_without_statistics(&self.job.method, common)?;
        Ok(Some(SignedMethod::new(method, None)))
    }

    /// What the tasks of a finished stage found.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn facts(&self, stage: &str) -> Result<Facts> {
        self.work.facts(stage)
    }

    /// The part of records with this hash.
    pub fn part(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.tasks() as u128) >> 64) as usize
    }
}

/// Whether the keep order of a job is that of its input.
pub fn is_in_order(plan: &Plan, job: &DedupJob) -> bool {
    !plan.is_keyed() && job.keep.is_input_order()
}
