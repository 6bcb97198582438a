//! A job that has begun, as its tasks see it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use simtool_batch::KnownDocuments;
use simtool_batch::dedup::DedupJob;
use simtool_core::{Error, ErrorKind, Result};
use simtool_engine::Progress;

use crate::context::Context;
use crate::plan::{Plan, Request};
use crate::tasks;
use crate::work::{Facts, Work};

/// The file with what was asked for.
pub const JOB: &str = "job.json";

/// What is stored of a job.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Stored {
    /// The version of the package.
    pub version: String,
    /// What was asked for.
    pub request: Request,
    /// What is read.
    pub plan: Plan,
}

/// A job that has begun, as its tasks see it.
pub struct StoredJob {
    work: Work,
    stored: Stored,
}

/// What the words of a request say.
#[derive(Clone, Copy)]
pub struct Called<'a> {
    /// The settings.
    pub job: &'a DedupJob,
    /// The indexes that the input is compared with.
    pub known: Option<&'a dyn KnownDocuments>,
}

impl StoredJob {
    /// The job in a directory.
    ///
    /// # Errors
    /// Errors of reading; [`ErrorKind::Content`] if there is none.
    pub fn open(directory: &Path) -> Result<StoredJob> {
        let work = Work::open(directory)?;
        let stored = read(&work)?.ok_or_else(|| {
            let message =
                "has no job: is it the directory of the driver, and do all workers see it?";
            Error::new(ErrorKind::Content, message).in_file(directory)
        })?;
        Ok(StoredJob { work, stored })
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.stored.request
    }

    /// What is read, and by which tasks.
    pub fn plan(&self) -> &Plan {
        &self.stored.plan
    }

    /// Its directory.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Runs a task of a stage, and returns what it found. Files that it needs only itself are in
    /// `temporary`.
    ///
    /// # Errors
    /// Errors of the stage.
    pub fn run(
        &self,
        Called { job, known }: Called<'_>,
        (stage, task): (&str, usize),
        temporary: &Path,
        progress: &Progress,
    ) -> Result<Facts> {
        let context = Context {
            work: &self.work,
            plan: &self.stored.plan,
            job,
            known,
            temporary,
            progress,
        };
        tasks::run(&context, stage, task)
    }
}

/// What is stored of the job in a directory.
///
/// # Errors
/// Errors of reading.
pub fn read(work: &Work) -> Result<Option<Stored>> {
    let text = work.read(JOB)?;
    text.map(|text| serde_json::from_slice(&text).map_err(unreadable))
        .transpose()
}

/// An error of the format.
pub fn unreadable(cause: serde_json::Error) -> Error {
    Error::new(ErrorKind::Content, format!("a file of the job: {cause}"))
}
