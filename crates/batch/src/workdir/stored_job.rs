//! The job that a work directory was made for.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::workdir::files::checksummed;
use crate::workdir::files::errors::error;
use crate::workdir::files::file::publish_bytes;
use crate::workdir::files::names::{self, JOB, LOCK, OUTPUTS, PART, entries};
use crate::workdir::outputs::journal::{self, Journal};
use crate::{Error, ErrorKind, Result};
use simtool_files::{Faults, directory, regular_contents};

/// The contents of `job.json`.
pub enum StoredJob {
    /// The file is missing.
    Nothing,
    /// The file is damaged.
    Damaged,
    /// A run of this job, with this number.
    Job { job: Value, run: u64 },
}

impl StoredJob {
    /// Reads `job.json` in the work directory `directory`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn read(directory: &Path) -> Result<StoredJob> {
        let path = directory.join(JOB);
        match regular_contents(&path) {
            Ok(text) => Ok(StoredJob::parse(&text).unwrap_or(StoredJob::Damaged)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(StoredJob::Nothing),
            Err(cause) => Err(error(&path, cause)),
        }
    }

    fn parse(text: &[u8]) -> Option<StoredJob> {
        let mut object = checksummed::decode(text)?;
        Some(StoredJob::Job {
            job: object.remove("job")?,
            run: journal::parse_run(object.get("run")?)?,
        })
    }

    /// The number of the run, if known.
    pub fn run(&self) -> Option<u64> {
        match self {
            StoredJob::Job { run, .. } => Some(*run),
            StoredJob::Nothing | StoredJob::Damaged => None,
        }
    }
}

/// Makes the directory for a new run of a job; returns the number of the run. The record of outputs
/// is written before the job, so that there is no job without a record.
///
/// # Errors
/// [`ErrorKind::Write`].
pub fn begin(directory: &Path, job: &Value, faults: &Faults) -> Result<u64> {
    directory::create_all(directory)?;
    for name in [JOB, OUTPUTS] {
        directory::remove(&directory.join(format!("{name}{PART}")), &Faults::default())?;
    }
    let run = RandomState::new().build_hasher().finish();
    let first_line = journal::first_line(run);
    publish_bytes(&directory.join(OUTPUTS), first_line.as_bytes(), faults)?;
    let text = checksummed::encode([("job", job), ("run", &journal::run_value(run))]);
    publish_bytes(&directory.join(JOB), text.as_bytes(), faults)?;
    Ok(run)
}

/// A file with a name that a run needs, in a directory without a job. Files of a run that was
/// killed before it published its job, or after the job was removed, do not count.
///
/// # Errors
/// [`ErrorKind::Write`] if the directory cannot be read.
pub fn find_foreign(directory: &Path) -> Result<Option<PathBuf>> {
    for name in entries(directory)? {
        let is_left = match name.as_str() {
            LOCK => true,
            OUTPUTS => Journal::read(&directory.join(OUTPUTS))?.run.is_some(),
            name => [JOB, OUTPUTS]
                .iter()
                .any(|of| *name == format!("{of}{PART}")),
        };
        if !is_left && names::order(&name).is_some() {
            return Ok(Some(directory.join(name)));
        }
    }
    Ok(None)
}

/// Refuses a directory with such a file.
///
/// # Errors
/// [`ErrorKind::Write`] naming it.
pub fn refuse_foreign(directory: &Path) -> Result<()> {
    match find_foreign(directory)? {
        None => Ok(()),
        Some(path) => {
            let message = "has a name that simtool needs for its own files, and no job.json says \
                           that simtool made it (move it away, or choose another -o)";
            Err(Error::new(ErrorKind::Write, message).in_file(path))
        }
    }
}

/// Refuses a work directory that is a symbolic link: another run may use its target.
///
/// # Errors
/// [`ErrorKind::Write`] naming the link.
pub fn refuse_link(directory: &Path) -> Result<()> {
    match fs::read_link(directory) {
        Err(_) => Ok(()),
        Ok(target) => {
            let message = format!(
                "is a symbolic link to {}, and simtool needs a directory of its own there (remove \
                 the link, or choose another -o)",
                target.display()
            );
            Err(Error::new(ErrorKind::Write, message).in_file(directory))
        }
    }
}
