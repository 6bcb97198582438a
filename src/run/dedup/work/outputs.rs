//! The outputs of a run, recorded while they come into being.
//!
//! So a run that goes on knows what is finished, removes the temporary files of the run before it,
//! and replaces or removes nothing that no run made.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::journal::{self, Journal};
use super::made::{FileMark, Made, Stamp};
use super::{error, path_text};
use crate::Result;
use crate::io::{AtomicFile, Faults, Operation, Recorder, directory};

/// The outputs of a run, below one directory. Clones share their record.
#[derive(Clone)]
pub struct Outputs(Arc<Record>);

struct Record {
    out: PathBuf,
    /// `out` without symbolic links.
    real_out: PathBuf,
    journal: PathBuf,
    /// In the name of every temporary file.
    run: u64,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    file: File,
    temporaries: u64,
    /// Directories that are recorded.
    directories: BTreeSet<PathBuf>,
    made: Made,
}

/// An output, as it was recorded.
#[derive(Clone, Debug)]
pub struct Written {
    /// Below the directory of the outputs.
    pub name: PathBuf,
    /// Its length and digest.
    pub mark: FileMark,
}

impl Outputs {
    /// Opens the sound record `journal` of the outputs in `out`, for the run with the number `run`.
    /// Files that `earlier` runs made may be replaced, too. Removes temporary files that a process
    /// left that was killed, also in the directories of the outputs `names`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn open(
        out: &Path,
        journal: &Path,
        run: u64,
        earlier: Made,
        names: &[PathBuf],
        faults: &Faults,
    ) -> Result<Outputs> {
        let failed = |cause| error(journal, cause);
        let found = Journal::read(journal)?;
        found.remove_temporaries(out, names, &[run], faults)?;
        found.made.sync(out)?;
        let file = OpenOptions::new().append(true).open(journal);
        let file = file.map_err(failed)?;
        // Without a last line that was not completed.
        file.set_len(found.bytes)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        let mut made = earlier;
        made.extend(found.made);
        Ok(Outputs(Arc::new(Record {
            out: out.to_owned(),
            real_out: fs::canonicalize(out).map_err(failed)?,
            journal: journal.to_owned(),
            run,
            faults: faults.clone(),
            state: Mutex::new(State {
                file,
                temporaries: 0,
                directories: found.directories,
                made,
            }),
        })))
    }

    /// Starts an output that will be published as `path`, below the directory of the outputs.
    /// Publishing it fails if a file of the user has that name then.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        let recorder = Arc::clone(&self.0);
        AtomicFile::create_recorded(path, recorder)
    }

    /// Whether `path` is an output that this run, or one that it continues, has completed, and that
    /// has not changed since.
    pub fn is_written(&self, path: &Path) -> bool {
        let name = path.strip_prefix(&self.0.out);
        name.is_ok_and(|name| self.0.state().made.is_latest(&self.0.out, name))
    }

    /// The outputs that this run, or one that it continues, recorded; by name.
    pub fn written(&self) -> Vec<Written> {
        let state = self.0.state();
        let own = state.made.latest().filter(|(_, mark)| mark.stamp.is_some());
        own.map(|(name, mark)| Written {
            name: name.to_owned(),
            mark,
        })
        .collect()
    }
}

/// Removes what an unfinished run made in `out`, temporary files and outputs. What was changed
/// since stays, unless it is among those that are known to be `own`.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_recorded(
    out: &Path,
    journal: &Journal,
    own: &BTreeSet<PathBuf>,
    faults: &Faults,
) -> Result<()> {
    let mut directories = BTreeSet::new();
    for (name, _) in journal.made.latest() {
        if own.contains(name) || journal.made.is_own(out, name)? == Some(true) {
            remove_output(out, name, faults)?;
            directories.extend(name.parent());
        }
    }
    // A power loss must not bring back what is not recorded any more.
    for directory in directories {
        let path = out.join(directory);
        if path.is_dir() {
            directory::sync(&path, faults)?;
        }
    }
    directory::sync(out, faults)
}

/// Removes the output `name` of `out`, and the directories below `out` that are empty then. A
/// symbolic link stays.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_output(out: &Path, name: &Path, faults: &Faults) -> Result<()> {
    let path = out.join(name);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file || !path_text::is_below(name) {
        return Ok(());
    }
    faults
        .before(Operation::Remove, &path)
        .and_then(|()| fs::remove_file(&path))
        .map_err(|cause| error(&path, cause))?;
    for parent in name.ancestors().skip(1) {
        if parent.as_os_str().is_empty() || fs::remove_dir(out.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

impl Record {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, state: &mut State, line: &str) -> Result<()> {
        self.faults
            .before(Operation::Write, &self.journal)
            .and_then(|()| state.file.write_all(line.as_bytes()))
            .and_then(|()| self.faults.before(Operation::Sync, &self.journal))
            .and_then(|()| state.file.sync_data())
            .map_err(|cause| error(&self.journal, cause))
    }
}

impl Recorder for Record {
    fn temporary(&self, _: &Path, directory: &Path) -> Result<PathBuf> {
        let mut state = self.state();
        // Below the directory of the outputs, which may be moved before the run goes on.
        let recorded = directory.strip_prefix(&self.real_out).unwrap_or(directory);
        if !state.directories.contains(recorded) {
            self.append(&mut state, &journal::directory_line(recorded))?;
            state.directories.insert(recorded.to_owned());
        }
        let prefix = journal::temporary_prefix(self.run);
        let path = directory.join(format!("{prefix}{}", state.temporaries));
        state.temporaries += 1;
        self.faults
            .before(Operation::Create, &path)
            .map_err(|cause| error(&path, cause))?;
        Ok(path)
    }

    fn publishing(&self, path: &Path, file: &Metadata, digest: u128) -> Result<()> {
        let Ok(name) = path.strip_prefix(&self.out) else {
            return Ok(());
        };
        let known = self.state().made.only(name);
        known.refuse_others(&self.out, &[name.to_owned()])?;
        let mark = FileMark {
            bytes: file.len(),
            digest,
            stamp: Some(Stamp::of(file)),
        };
        let mut state = self.state();
        self.append(&mut state, &journal::output_line(name, &mark))?;
        state.made.add(name, mark);
        drop(state);
        self.faults
            .before(Operation::Rename, path)
            .map_err(|cause| error(path, cause))
    }
}
