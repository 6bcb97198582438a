//! The state of an output directory before a run, and the refusals that follow from it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use simtool_objects::RemoteDirectory;

use super::journal::Journal;
use super::place::Place;
use super::recorded_files::{self, RecordedFiles};
use crate::workdir::differences;
use crate::workdir::files::errors::damaged;
use crate::workdir::files::names::{JOB, OUTPUTS, entries};
use crate::workdir::finished::{FinishedRun, RUN, SUMMARY, TIMINGS};
use crate::workdir::stored_job::{self, StoredJob};
use crate::{Error, ErrorKind, Result};
use simtool_files::InputFiles;

/// How a job starts.
#[derive(Clone, Copy, Default)]
pub struct StartOptions<'a> {
    /// Whether to replace the output of an earlier run, finished or not.
    pub restart: bool,
    /// Whether the job reads a stream, so that it can neither resume nor be recognised as finished.
    pub has_stream: bool,
    /// The files that the job writes, relative to the output directory.
    pub outputs: &'a [PathBuf],
    /// The files that the command reads.
    pub reads: &'a [PathBuf],
    /// The directory of an object store where complete outputs are moved to.
    pub remote: Option<&'a Arc<dyn RemoteDirectory>>,
}

/// The results of earlier runs in an output directory, where the job may start.
pub struct OutputState {
    /// The job of the work directory.
    pub stored_job: StoredJob,
    /// The run that finished in the output directory.
    pub finished: Option<FinishedRun>,
    /// The record of an unfinished run.
    pub journal: Journal,
    /// The outputs of the finished run.
    pub earlier: RecordedFiles,
    /// The next step of the job.
    pub next: NextStep,
}

/// The next step of a job. Recorded files with the name of one of its outputs come with it.
pub enum NextStep {
    /// Nothing, as its output is complete.
    Finished,
    /// Continue the run with this number.
    Continue(u64, BTreeSet<PathBuf>),
    /// Remove an unfinished run first.
    Replace(BTreeSet<PathBuf>),
    /// Begin, as no run is unfinished.
    Begin(BTreeSet<PathBuf>),
}

impl OutputState {
    /// Reads the state of `place` and its work `directory`, and changes nothing.
    ///
    /// # Errors
    /// If the job must not start there.
    pub fn read(
        place: &mut Place,
        directory: &Path,
        job: &Value,
        start: StartOptions,
    ) -> Result<OutputState> {
        let journal = Journal::read(&directory.join(OUTPUTS))?;
        let stored_job = match StoredJob::read(directory)? {
            // Nothing shows that these files are of a run.
            StoredJob::Damaged if journal.run.is_none() => StoredJob::Nothing,
            stored_job => stored_job,
        };
        let is_ours =
            matches!(&stored_job, StoredJob::Job { job: stored_job, .. } if stored_job == job);
        let finished = FinishedRun::read(place)?;
        let own = [RUN, SUMMARY, TIMINGS].map(Path::new).into_iter();
        let listed = finished.iter().flat_map(FinishedRun::names);
        let expected = start.outputs.iter().map(PathBuf::as_path);
        let recorded = journal.recorded.names();
        place.find(own.chain(listed).chain(expected).chain(recorded))?;
        let place = &*place;
        if is_finished(place, finished.as_ref(), job, start, is_ours)? {
            return Ok(OutputState {
                stored_job,
                finished,
                journal,
                earlier: RecordedFiles::default(),
                next: NextStep::Finished,
            });
        }
        let earlier = match &finished {
            Some(run) => run.recorded(place)?,
            None => RecordedFiles::default(),
        };
        let mut recorded = earlier.clone();
        recorded.extend(journal.recorded.clone());
        let names = start.outputs;
        let next = match &stored_job {
            StoredJob::Job { run, .. } if is_ours && !start.restart && !start.has_stream => {
                if !journal.is_sound(*run) {
                    return Err(damaged(&directory.join(OUTPUTS)));
                }
                NextStep::Continue(*run, recorded.refuse_others(place, names)?)
            }
            StoredJob::Job {
                job: stored_job, ..
            } if !is_ours && !start.restart => {
                return Err(another_job(directory, stored_job, job));
            }
            StoredJob::Damaged if !start.restart => return Err(damaged(&directory.join(JOB))),
            StoredJob::Job { .. } | StoredJob::Damaged => {
                NextStep::Replace(recorded.refuse_others(place, names)?)
            }
            StoredJob::Nothing => {
                stored_job::refuse_foreign(directory)?;
                NextStep::Begin(earlier.refuse_others(place, names)?)
            }
        };
        if finished.is_some() || !matches!(next, NextStep::Continue(..)) {
            refuse_removal(place, directory, &recorded, start.reads)?;
        }
        Ok(OutputState {
            stored_job,
            finished,
            journal,
            earlier,
            next,
        })
    }
}

/// The error for a `job` where a run of another job, `stored_job`, is unfinished.
fn another_job(directory: &Path, stored_job: &Value, job: &Value) -> Error {
    let advice = match differences::has_changed_input(stored_job, job) {
        true => {
            "an input has changed since, so the earlier run cannot be finished: add --restart to \
             begin anew, or choose another -o"
        }
        false => "repeat the earlier command to finish it, or add --restart to begin anew",
    };
    let message = format!(
        "belongs to an unfinished run of another job: {} ({advice})",
        differences::list(stored_job, job)
    );
    Error::new(ErrorKind::Changed, message).in_file(directory)
}

/// Whether `place` holds the complete output of `job`.
///
/// # Errors
/// If it holds another finished output that is not to be replaced.
fn is_finished(
    place: &Place,
    finished: Option<&FinishedRun>,
    job: &Value,
    start: StartOptions,
    is_ours: bool,
) -> Result<bool> {
    let has_summary = place.found(Path::new(SUMMARY))?.is_some();
    let refused = |message: String| {
        let error = Error::new(ErrorKind::Changed, message);
        Err(error.in_file(place.shown(Path::new(""))))
    };
    match (finished, has_summary) {
        (None, false) => Ok(false),
        (None, true) => {
            let message = "is there, but no run.json that says what run made it (move it away, or \
                           choose another -o)";
            Err(Error::new(ErrorKind::Write, message).in_file(place.shown(Path::new(SUMMARY))))
        }
        (Some(_), _) if start.restart => Ok(false),
        (Some(run), true) if run.job == *job && !start.has_stream => {
            run.check_outputs(place)?;
            Ok(true)
        }
        (Some(run), true) if run.job == *job => refused(
            "holds the output of a finished run, and what a stream held cannot be compared: choose \
             another -o, or add --restart to replace it"
                .to_owned(),
        ),
        // An interrupted restart.
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

/// Refuses to remove files that the command reads: outputs that earlier runs `recorded`, and the files of the work `directory`.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming the file.
fn refuse_removal(
    place: &Place,
    directory: &Path,
    recorded: &RecordedFiles,
    reads: &[PathBuf],
) -> Result<()> {
    let mut files = InputFiles::default();
    reads.iter().for_each(|path| files.add(path));
    recorded.refuse_read(place, &files)?;
    for name in entries(directory)? {
        recorded_files::refuse_read(&directory.join(name), &files)?;
    }
    Ok(())
}
