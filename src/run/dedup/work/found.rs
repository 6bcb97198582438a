//! What a job finds in its output directory, and what it refuses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::begun::{self, Begun};
use super::finished::{FinishedRun, SUMMARY};
use super::journal::Journal;
use super::made::{self, Made};
use super::names::{JOB, OUTPUTS, SEGMENTS};
use super::{Beginning, damaged, differences, entries, error};
use crate::io::InputFiles;
use crate::{Error, ErrorKind, Result};

/// What earlier runs left in an output directory, none of which is in the way of a job.
pub struct Found {
    /// What the work directory says.
    pub begun: Begun,
    /// The run that has finished there.
    pub finished: Option<FinishedRun>,
    /// The record of an unfinished run.
    pub journal: Journal,
    /// The outputs of the finished run.
    pub earlier: Made,
    /// What the job does next.
    pub next: Next,
}

/// What a job does next. Recorded files that have the name of one of its outputs come with it.
pub enum Next {
    /// Nothing: its output is complete.
    Finished,
    /// Continues the run of that number.
    Continue(u64, BTreeSet<PathBuf>),
    /// Removes an unfinished run.
    Replace(BTreeSet<PathBuf>),
    /// Begins where no run is unfinished.
    Begin(BTreeSet<PathBuf>),
}

impl Found {
    /// Reads what is in `out` and its work `directory`, and changes nothing.
    ///
    /// # Errors
    /// If the job must not begin there.
    pub fn read(out: &Path, directory: &Path, job: &Value, beginning: Beginning) -> Result<Found> {
        let journal = Journal::read(&directory.join(OUTPUTS))?;
        let begun = match Begun::read(directory)? {
            // Nothing says that these files are of a run.
            Begun::Damaged if journal.run.is_none() => Begun::Nothing,
            begun => begun,
        };
        let is_ours = matches!(&begun, Begun::Job { job: begun, .. } if begun == job);
        let finished = FinishedRun::read(out)?;
        if is_finished(out, finished.as_ref(), job, beginning, is_ours)? {
            return Ok(Found {
                begun,
                finished,
                journal,
                earlier: Made::default(),
                next: Next::Finished,
            });
        }
        let earlier = match &finished {
            Some(run) => run.made(out)?,
            None => Made::default(),
        };
        let mut made = earlier.clone();
        made.extend(journal.made.clone());
        let names = beginning.outputs;
        let next = match &begun {
            Begun::Job { run, .. } if is_ours && !beginning.restart && !beginning.has_stream => {
                if !journal.is_sound(*run) {
                    return Err(damaged(&directory.join(OUTPUTS)));
                }
                Next::Continue(*run, made.refuse_others(out, names)?)
            }
            Begun::Job { job: begun, .. } if !is_ours && !beginning.restart => {
                return Err(another_job(directory, begun, job));
            }
            Begun::Damaged if !beginning.restart => return Err(damaged(&directory.join(JOB))),
            Begun::Job { .. } | Begun::Damaged => Next::Replace(made.refuse_others(out, names)?),
            Begun::Nothing => {
                begun::refuse_foreign(directory)?;
                Next::Begin(earlier.refuse_others(out, names)?)
            }
        };
        if finished.is_some() || !matches!(next, Next::Continue(..)) {
            refuse_removal(out, directory, &made, beginning.reads)?;
        }
        Ok(Found {
            begun,
            finished,
            journal,
            earlier,
            next,
        })
    }
}

/// The refusal of a `job` where the run of another one, `begun`, is unfinished.
fn another_job(directory: &Path, begun: &Value, job: &Value) -> Error {
    let advice = match differences::has_changed_input(begun, job) {
        true => {
            "an input has changed since, so the earlier run cannot be finished: add --restart to \
             begin anew, or choose another -o"
        }
        false => "repeat the earlier command to finish it, or add --restart to begin anew",
    };
    let message = format!(
        "belongs to an unfinished run of another job: {} ({advice})",
        differences::list(begun, job)
    );
    Error::new(ErrorKind::Changed, message).in_file(directory)
}

/// Whether `out` holds the complete output of `job`.
///
/// # Errors
/// If it holds another finished output, and is not to be replaced.
fn is_finished(
    out: &Path,
    finished: Option<&FinishedRun>,
    job: &Value,
    beginning: Beginning,
    is_ours: bool,
) -> Result<bool> {
    let summary = out.join(SUMMARY);
    let has_summary = fs::exists(&summary).map_err(|cause| error(&summary, cause))?;
    let refused = |message: String| Err(Error::new(ErrorKind::Changed, message).in_file(out));
    match (finished, has_summary) {
        (None, false) => Ok(false),
        (None, true) => {
            let message = "is there, but no run.json that says what run made it (move it away, or \
                           choose another -o)";
            Err(Error::new(ErrorKind::Write, message).in_file(summary))
        }
        (Some(_), _) if beginning.restart => Ok(false),
        (Some(run), true) if run.job == *job && !beginning.has_stream => {
            run.check_outputs(out)?;
            Ok(true)
        }
        (Some(run), true) if run.job == *job => refused(
            "holds the output of a finished run, and what a stream held cannot be compared: choose \
             another -o, or add --restart to replace it"
                .to_owned(),
        ),
        // A restart that was interrupted.
        (Some(_), _) if is_ours => Ok(false),
        (Some(run), true) => refused(format!(
            "holds the output of a finished run of another job: {} (choose another -o, or add \
             --restart to replace it)",
            differences::list(&run.job, job)
        )),
        (Some(_), false) => refused(
            "holds the output of a finished run without its summary.json (choose another -o, or \
             add --restart to replace it)"
                .to_owned(),
        ),
    }
}

/// Refuses to remove what runs `made` in `out`, and the files of the work `directory`, if the
/// command reads one of them.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming it.
fn refuse_removal(out: &Path, directory: &Path, made: &Made, reads: &[PathBuf]) -> Result<()> {
    let mut files = InputFiles::default();
    reads.iter().for_each(|path| files.add(path));
    made.refuse_read(out, &files)?;
    for directory in [directory.to_owned(), directory.join(SEGMENTS)] {
        for name in entries(&directory)? {
            made::refuse_read(&directory.join(name), &files)?;
        }
    }
    Ok(())
}
