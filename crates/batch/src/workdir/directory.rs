//! The work directory of a run: opening, contents, removal.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use simtool_objects::RemoteDirectory;

use super::finished::{FinishedRun, SUMMARY};
use super::stored_job::{self, StoredJob};
use crate::Result;
use crate::workdir::files::checksummed;
use crate::workdir::files::errors::{damaged, error};
use crate::workdir::files::file::{self, WorkFile};
use crate::workdir::files::growing_file::GrowingFile;
use crate::workdir::files::names::{self, LOCK, OUTPUTS, PART, entries};
use crate::workdir::locks::lock::{self, Lock};
use crate::workdir::locks::remote_lock::RemoteLock;
use crate::workdir::outputs::output_files::{self, Outputs};
use crate::workdir::outputs::output_state::{NextStep, OutputState, StartOptions};
use crate::workdir::outputs::place::Place;
use simtool_engine::Progress;
use simtool_files::{AtomicFile, Faults, Operation, directory, regular_contents};

const NAME: &str = ".simtool";

/// A work directory that no other process uses.
pub struct Work {
    directory: PathBuf,
    out: PathBuf,
    faults: Faults,
    outputs: Outputs,
    _lock: Lock,
    remote: Option<Arc<dyn RemoteDirectory>>,
    remote_lock: Option<RemoteLock>,
    warning: Option<String>,
}

/// The state of a job's output directory.
pub enum Opened {
    /// The complete output of the same job, which is there.
    Finished(Place),
    /// A work directory, new or of an unfinished run of the same job.
    Unfinished(Work),
}

impl Work {
    /// Opens the work directory in `out`, or makes one for `job`. With `restart`, first removes the
    /// recorded files of earlier runs, and nothing else. If the job reads a stream, first removes
    /// those of an unfinished run.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the command reads a file that would be removed;
    /// [`ErrorKind::Write`] if the directory cannot be made, if another process uses it, or if a
    /// file that no run recorded has the name of an output; [`ErrorKind::Changed`] if the directory
    /// belongs to another job (with the differences), or outputs of a finished run were changed;
    /// [`ErrorKind::Content`] if the record of an earlier run is damaged; [`ErrorKind::Read`].
    pub fn open(out: &Path, job: &Value, start: StartOptions, faults: &Faults) -> Result<Opened> {
        directory::create_all(out)?;
        let directory = out.join(NAME);
        stored_job::refuse_link(&directory)?;
        let lock = Lock::take(out, &directory)?;
        let remote_lock = start.remote.map(|remote| RemoteLock::take(remote, out));
        let mut remote_lock = remote_lock.transpose()?;
        let mut place = Place::new(out, start.remote);
        let OutputState {
            stored_job,
            finished,
            journal,
            earlier,
            next,
        } = OutputState::read(&mut place, &directory, job, start)?;
        let names = start.outputs;
        let (run, own) = match next {
            NextStep::Finished => {
                if !matches!(stored_job, StoredJob::Nothing)
                    || stored_job::find_foreign(&directory)?.is_none()
                {
                    output_files::remove_local(&place, &journal, faults)?;
                    release(remote_lock)?;
                    remove(&directory, faults)?;
                }
                remove_empty(&place);
                return Ok(Opened::Finished(place));
            }
            NextStep::Continue(run, own) => (run, own),
            NextStep::Replace(own) => {
                let runs: Vec<u64> = stored_job.run().into_iter().chain(journal.run).collect();
                journal.remove_temporaries(out, names, &runs, faults)?;
                output_files::remove_recorded(&place, &journal, &own, faults)?;
                remove(&directory, faults)?;
                (stored_job::begin(&directory, job, faults)?, own)
            }
            NextStep::Begin(own) => (stored_job::begin(&directory, job, faults)?, own),
        };
        if let Some(run) = finished.filter(|run| start.restart || run.job != *job) {
            run.remove(&place, &own, faults)?;
        }
        if let Some(lock) = &mut remote_lock {
            lock.keep();
        }
        remove_known(
            &directory,
            |name| names::order(name).filter(|_| name.ends_with(PART)),
            faults,
        )?;
        let journal = directory.join(OUTPUTS);
        let outputs = Outputs::open(place, &journal, run, earlier, names, faults)?;
        let of_remote = remote_lock.as_ref().and_then(|lock| lock.warning.clone());
        Ok(Opened::Unfinished(Work {
            warning: of_remote.or_else(|| lock.warning.clone()),
            remote: start.remote.cloned(),
            directory,
            out: out.to_owned(),
            faults: faults.clone(),
            outputs,
            _lock: lock,
            remote_lock,
        }))
    }

    /// Makes the checks of [`open`](Work::open) and changes nothing. Does not check whether another
    /// process uses the directory.
    ///
    /// # Errors
    /// Errors of [`open`](Work::open).
    pub fn check(out: &Path, job: &Value, start: StartOptions) -> Result<()> {
        let directory = out.join(NAME);
        stored_job::refuse_link(&directory)?;
        if let Some(remote) = start.remote {
            RemoteLock::check(remote, out)?;
        }
        let mut place = Place::new(out, start.remote);
        OutputState::read(&mut place, &directory, job, start).map(drop)
    }

    /// The path of the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The outputs of the run.
    pub fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// A warning if the file system or the store has no locks, so that another process may use the
    /// directory.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The path of a named file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Creates the file `path` in the directory.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        file::create(path, &self.faults)
    }

    /// Opens the file `name`, which grows in place, and cuts it to `bytes`, its sound beginning.
    /// Makes it if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn growing_file(&self, name: &str, bytes: u64) -> Result<GrowingFile> {
        let path = self.path(name);
        if !path.exists() {
            file::publish_bytes(&path, &[], &self.faults)?;
        }
        GrowingFile::open(&path, bytes, &self.faults)
    }

    /// Creates the file `name`, which will have a digest.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create_file(&self, name: &str) -> Result<WorkFile> {
        WorkFile::create(&self.directory, name, &self.faults)
    }

    /// Publishes a small object as `name`, with a checksum.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(&self, name: &str, object: Map<String, Value>) -> Result<()> {
        file::publish(&self.path(name), object, &self.faults)
    }

    /// Removes the object `name`, which exists.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn withdraw(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        self.faults
            .before(Operation::Remove, &path)
            .and_then(|()| fs::remove_file(&path))
            .map_err(|cause| error(&path, cause))?;
        directory::sync(&self.directory, &self.faults)
    }

    /// The object `name`; `None` if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it is damaged; [`ErrorKind::Write`] if it cannot be read.
    pub fn published(&self, name: &str) -> Result<Option<Map<String, Value>>> {
        let path = self.path(name);
        match regular_contents(&path) {
            Ok(text) => checksummed::decode(&text)
                .map(Some)
                .ok_or_else(|| damaged(&path)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(error(&path, cause)),
        }
    }

    /// Compares the files `names` with the lengths and digests in `described`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] naming the first file that differs; [`ErrorKind::Interrupted`].
    pub fn verify(&self, names: &[&str], described: &Value, progress: &Progress) -> Result<()> {
        file::verify(&self.directory, names, described, progress)
    }

    /// Publishes the record of the finished run and `summary`, in this order, and removes the
    /// directory. Files that simtool did not make are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn finish(self, job: &Value, summary: &str) -> Result<()> {
        FinishedRun::publish(job, &self.outputs, &self.out, summary)?;
        let mut file = self.outputs.create(&self.out.join(SUMMARY))?;
        file.write_all(summary.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()?;
        self.abandon()
    }

    /// Removes the directory of a run that has nothing to resume from.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn abandon(self) -> Result<()> {
        release(self.remote_lock)?;
        remove(&self.directory, &self.faults)?;
        remove_empty(&Place::new(&self.out, self.remote.as_ref()));
        Ok(())
    }
}

/// Unlocks the remote directory.
fn release(lock: Option<RemoteLock>) -> Result<()> {
    lock.map_or(Ok(()), RemoteLock::release)
}

/// Removes the local directory of outputs that belong in a remote one, and the directories in it,
/// unless they have files.
fn remove_empty(place: &Place) {
    fn remove(directory: &Path) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        directories.for_each(|entry| remove(&entry.path()));
        // It fails if there are files.
        let _ = fs::remove_dir(directory);
    }
    if place.remote.is_some() {
        remove(&place.out);
    }
}

/// Removes all files of simtool in a work directory, and the directory if it is empty then.
fn remove(directory: &Path, faults: &Faults) -> Result<()> {
    // The job is removed after the other files and before the record of outputs: a power failure
    // must leave neither files without their job nor a job without its record.
    let is_removed_first =
        |name: &str| names::order(name).filter(|_| !names::is_job(name) && !names::is_late(name));
    remove_known(directory, is_removed_first, faults)?;
    sync(directory, faults)?;
    remove_known(
        directory,
        |name| names::order(name).filter(|_| names::is_job(name)),
        faults,
    )?;
    sync(directory, faults)?;
    let is_own = |name: &str| name != LOCK || lock::is_own(directory);
    remove_known(
        directory,
        |name| names::order(name).filter(|_| is_own(name)),
        faults,
    )?;
    remove_directory(directory, faults)
}

fn sync(directory: &Path, faults: &Faults) -> Result<()> {
    match directory.is_dir() {
        true => directory::sync(directory, faults),
        false => Ok(()),
    }
}

/// Removes the files to whose names `order` gives a number, smaller numbers first.
fn remove_known(parent: &Path, order: impl Fn(&str) -> Option<u32>, faults: &Faults) -> Result<()> {
    let names = entries(parent)?.into_iter();
    let mut known: Vec<_> = names
        .filter_map(|name| Some((order(&name)?, name)))
        .collect();
    known.sort();
    for (_, name) in known {
        directory::remove(&parent.join(name), faults)?;
    }
    Ok(())
}

fn remove_directory(directory: &Path, faults: &Faults) -> Result<()> {
    let removed = faults
        .before(Operation::Remove, directory)
        .and_then(|()| fs::remove_dir(directory));
    match removed.map_err(|cause| (cause.kind(), cause)) {
        Ok(()) => Ok(()),
        // The directory has files that simtool did not make, or is a symbolic link.
        Err((io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory, _)) => Ok(()),
        Err((io::ErrorKind::NotFound, _)) => Ok(()),
        Err((_, cause)) => Err(error(directory, cause)),
    }
}

#[cfg(test)]
mod tests;
