//! The work directory: what a run has finished, so that the same command can go on from there.
//!
//! ```text
//! OUT/.simtool/outputs         what this run writes into OUT; made first
//! OUT/.simtool/job.json        settings and inputs; another job may not go on from here
//! OUT/.simtool/frequencies-N   corpus statistics of the method
//! OUT/.simtool/sketch/U-S      segment S of unit U of the first reading
//! OUT/.simtool/rows, labels…   all segments together
//! OUT/.simtool/gathered        lengths and digests of these: the first reading is complete
//! OUT/.simtool/decisions…      which documents go, and for which others
//! OUT/.simtool/decided         lengths and digests of these
//! OUT/.simtool/reported        the reports are complete; their totals
//! OUT/.simtool/stream-N        a copy of standard input or of a pipe
//! OUT/run.json                 settings, inputs and outputs of a finished run
//! ```
//!
//! While a run is under way, it holds a lock on `OUT` itself. Everything else that a run stores is
//! in unnamed files, which end with the process. Files with other names than these are never
//! removed.

mod begun;
mod checked;
mod differences;
mod file;
mod finished;
mod found;
mod journal;
mod lock;
mod made;
mod names;
mod outputs;
mod path_text;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::io::{AtomicFile, Faults, Operation, directory};
use crate::{Error, ErrorKind, Result};

pub use file::{Finished, WorkFile, describe};
pub use finished::{SUMMARY, TIMINGS};

pub use outputs::Outputs;
pub use path_text::{decode as path_from, encode as path_value};

use begun::Begun;
use finished::FinishedRun;
use found::{Found, Next};
use lock::Lock;
use names::{OUTPUTS, PART, SEGMENTS};

const NAME: &str = ".simtool";

/// A work directory that no other process uses.
pub struct Work {
    directory: PathBuf,
    out: PathBuf,
    faults: Faults,
    outputs: Outputs,
    lock: Lock,
}

/// What a job finds in its output directory.
pub enum Opened {
    /// The complete output of the same job.
    Finished,
    /// A work directory, new or of an unfinished run of the same job.
    Unfinished(Work),
}

/// How a job is to begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beginning<'a> {
    /// Whether to replace what an earlier run left, finished or not.
    pub restart: bool,
    /// Whether it reads a stream, so that it can neither go on nor be known to be finished.
    pub has_stream: bool,
    /// The files that it writes, below the directory of the outputs.
    pub outputs: &'a [PathBuf],
    /// The files that the command reads.
    pub reads: &'a [PathBuf],
}

impl Work {
    /// Opens the work directory in `out`, or makes one for `job`. With `restart`, everything that an
    /// earlier run recorded as its own is removed first, and nothing else.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if what would be removed is read by the command;
    /// [`ErrorKind::Write`] if it cannot be made, or another process uses it, or if a file has the
    /// name of an output and no run recorded it; [`ErrorKind::Changed`] if it belongs to another job: the message says
    /// where they differ; [`ErrorKind::Content`] if what an earlier run recorded is damaged.
    pub fn open(out: &Path, job: &Value, beginning: Beginning, faults: &Faults) -> Result<Opened> {
        directory::create_all(out)?;
        let directory = out.join(NAME);
        begun::refuse_link(&directory)?;
        let lock = Lock::take(out, &directory)?;
        let Found {
            begun,
            finished,
            journal,
            earlier,
            next,
        } = Found::read(out, &directory, job, beginning)?;
        let names = beginning.outputs;
        let (run, own) = match next {
            Next::Finished => {
                if !matches!(begun, Begun::Nothing) || begun::find_foreign(&directory)?.is_none() {
                    remove(&directory, faults)?;
                }
                return Ok(Opened::Finished);
            }
            Next::Continue(run, own) => (run, own),
            Next::Replace(own) => {
                let runs: Vec<u64> = begun.run().into_iter().chain(journal.run).collect();
                journal.remove_temporaries(out, names, &runs, faults)?;
                outputs::remove_recorded(out, &journal, &own, faults)?;
                remove(&directory, faults)?;
                (begun::begin(&directory, job, faults)?, own)
            }
            Next::Begin(own) => (begun::begin(&directory, job, faults)?, own),
        };
        if let Some(run) = finished.filter(|run| beginning.restart || run.job != *job) {
            run.remove(out, &own, faults)?;
        }
        directory::create_all(&directory.join(SEGMENTS))?;
        remove_known(
            &directory,
            |name| names::order(name).filter(|_| name.ends_with(PART)),
            faults,
        )?;
        // A segment that was being written has no other name, and its name is needed again.
        let is_part = |name: &str| names::is_segment(name) && name.ends_with(PART);
        remove_known(
            &directory.join(SEGMENTS),
            |name| is_part(name).then_some(0),
            faults,
        )?;
        let journal = directory.join(OUTPUTS);
        let outputs = Outputs::open(out, &journal, run, earlier, names, faults)?;
        Ok(Opened::Unfinished(Work {
            directory,
            out: out.to_owned(),
            faults: faults.clone(),
            outputs,
            lock,
        }))
    }

    /// Refuses what [`open`](Work::open) would refuse, and changes nothing; does not look whether
    /// another process is working there.
    ///
    /// # Errors
    /// Those of [`open`](Work::open).
    pub fn check(out: &Path, job: &Value, beginning: Beginning) -> Result<()> {
        let directory = out.join(NAME);
        begun::refuse_link(&directory)?;
        Found::read(out, &directory, job, beginning).map(drop)
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The outputs of the run.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// Why another process is perhaps not kept out, if the file system has no locks.
    pub fn warning(&self) -> Option<&str> {
        self.lock.warning.as_deref()
    }

    /// The path of a named file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The path of a segment of the first reading.
    pub fn segment(&self, unit: usize, number: usize) -> PathBuf {
        self.directory
            .join(SEGMENTS)
            .join(format!("{unit}-{number}"))
    }

    /// How many segments there are.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if the directory cannot be read.
    pub fn segments(&self) -> Result<usize> {
        let names = entries(&self.directory.join(SEGMENTS))?;
        Ok(names.iter().filter(|name| names::is_segment(name)).count())
    }

    /// Starts the segment or other file `path` of the directory.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        file::create(path, &self.faults)
    }

    /// Starts the file `name`, which will have a digest.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create_file(&self, name: &str) -> Result<WorkFile> {
        WorkFile::create(&self.directory, name, &self.faults)
    }

    /// Publishes a small object under `name`, with a checksum.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(&self, name: &str, object: Map<String, Value>) -> Result<()> {
        publish(&self.path(name), object, &self.faults)
    }

    /// The object called `name`; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it is damaged.
    pub fn published(&self, name: &str) -> Result<Option<Map<String, Value>>> {
        let path = self.path(name);
        match fs::read(&path) {
            Ok(text) => checked::decode(&text)
                .map(Some)
                .ok_or_else(|| damaged(&path)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(error(&path, cause)),
        }
    }

    /// Compares the files `names` with their lengths and digests in `described`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] naming the first one that differs.
    pub fn verify(&self, names: &[&str], described: &Value) -> Result<()> {
        file::verify(&self.directory, names, described)
    }

    /// Removes the segments, whose contents are elsewhere now.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn remove_segments(&self) -> Result<()> {
        remove_segments(&self.directory, &self.faults)
    }

    /// Publishes what says that the run is finished, `summary` last, and removes the directory; what
    /// others put there stays.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn finish(self, job: &Value, summary: &str) -> Result<()> {
        FinishedRun::publish(job, &self.outputs, &self.out, summary)?;
        let mut file = self.outputs.create(&self.out.join(SUMMARY))?;
        file.write_all(summary.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()?;
        remove(&self.directory, &self.faults)
    }

    /// Removes the directory of a run that left nothing to go on from.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn abandon(self) -> Result<()> {
        remove(&self.directory, &self.faults)
    }
}

fn publish(path: &Path, object: Map<String, Value>, faults: &Faults) -> Result<()> {
    publish_bytes(path, checked::encode(object).as_bytes(), faults)
}

fn publish_bytes(path: &Path, bytes: &[u8], faults: &Faults) -> Result<()> {
    let mut file = file::create(path, faults)?;
    file.write_all(bytes).map_err(|cause| file.error(cause))?;
    file.publish()
}

/// Removes what a run of simtool makes in a work directory, and the directory if it is empty then.
fn remove(directory: &Path, faults: &Faults) -> Result<()> {
    remove_segments(directory, faults)?;
    remove_directory(&directory.join(SEGMENTS), faults)?;
    // A power loss must not leave files without the job that tells whose they are, nor the job
    // without its record.
    let is_before =
        |name: &str| names::order(name).filter(|_| !names::is_job(name) && !names::is_late(name));
    remove_known(directory, is_before, faults)?;
    sync(directory, faults)?;
    remove_known(
        directory,
        |name| names::order(name).filter(|_| names::is_job(name)),
        faults,
    )?;
    sync(directory, faults)?;
    remove_known(directory, names::order, faults)?;
    remove_directory(directory, faults)
}

fn sync(directory: &Path, faults: &Faults) -> Result<()> {
    match directory.is_dir() {
        true => directory::sync(directory, faults),
        false => Ok(()),
    }
}

fn remove_segments(directory: &Path, faults: &Faults) -> Result<()> {
    let is_segment = |name: &str| names::is_segment(name).then_some(0);
    remove_known(&directory.join(SEGMENTS), is_segment, faults)
}

/// Removes the files whose names have an order, those of a smaller one first.
fn remove_known(
    directory: &Path,
    order: impl Fn(&str) -> Option<u32>,
    faults: &Faults,
) -> Result<()> {
    let names = entries(directory)?.into_iter();
    let mut known: Vec<_> = names
        .filter_map(|name| Some((order(&name)?, name)))
        .collect();
    known.sort();
    for (_, name) in known {
        let path = directory.join(name);
        faults
            .before(Operation::Remove, &path)
            .and_then(|()| fs::remove_file(&path))
            .map_err(|cause| error(&path, cause))?;
    }
    Ok(())
}

fn remove_directory(directory: &Path, faults: &Faults) -> Result<()> {
    let removed = faults
        .before(Operation::Remove, directory)
        .and_then(|()| fs::remove_dir(directory));
    match removed.map_err(|cause| (cause.kind(), cause)) {
        Ok(()) => Ok(()),
        // Files of others, or a symbolic link of others.
        Err((io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory, _)) => Ok(()),
        Err((io::ErrorKind::NotFound, _)) => Ok(()),
        Err((_, cause)) => Err(error(directory, cause)),
    }
}

/// The names in a directory that are UTF-8, as all of ours are; none if there is no directory. A
/// name that is not UTF-8 becomes one that nothing of ours has.
fn entries(directory: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(error(directory, cause)),
    };
    let name = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.map_err(|cause| error(directory, cause))?;
        Ok(entry.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}

fn damaged(path: &Path) -> Error {
    let message =
        "is damaged, or was made by another version of simtool: start again with --restart";
    Error::new(ErrorKind::Content, message).in_file(path)
}

fn error(path: &Path, cause: io::Error) -> Error {
    Error::new(
        ErrorKind::Write,
        "cannot be used as part of the work directory",
    )
    .in_file(path)
    .caused_by(cause)
}

#[cfg(test)]
mod tests;
