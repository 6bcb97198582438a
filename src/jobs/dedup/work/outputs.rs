//! The output files of a run and their record.
//!
//! The record tells a resumed run which outputs are complete and which temporary files to remove.
//! Files that no run recorded are neither replaced nor removed.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::errors::error;
use super::growing_file::GrowingFile;
use super::journal::{self, Journal};
use super::path_text;
use super::recorded_files::{FileMark, RecordedFiles, Stamp};
use crate::Result;
use crate::io::{AtomicFile, Faults, Operation, Recorder, directory};

/// The outputs of a run, below one directory. Clones share their record.
#[derive(Clone)]
pub struct Outputs(Arc<Record>);

struct Record {
    out: PathBuf,
    /// `out` without symbolic links.
    real_out: PathBuf,
    /// The number of the run, which is part of the name of every temporary file.
    run: u64,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    journal: GrowingFile,
    /// How many temporary files were named.
    temporaries: u64,
    /// Recorded directories.
    directories: BTreeSet<PathBuf>,
    recorded: RecordedFiles,
}

/// A recorded output.
#[derive(Clone, Debug)]
pub struct OutputRecord {
    /// The path relative to the output directory.
    pub name: PathBuf,
    /// The length and digest.
    pub mark: FileMark,
}

impl Outputs {
    /// Opens the record `journal` of the outputs in `out`, which must be undamaged, for the run with
    /// the number `run`. Files that `earlier` runs wrote may also be replaced. Removes temporary
    /// files of a killed process in `out`, in the recorded directories, and in those of the outputs
    /// `names`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn open(
        out: &Path,
        journal: &Path,
        run: u64,
        earlier: RecordedFiles,
        names: &[PathBuf],
        faults: &Faults,
    ) -> Result<Outputs> {
        let failed = |cause| error(journal, cause);
        let found = Journal::read(journal)?;
        found.remove_temporaries(out, names, &[run], faults)?;
        found.recorded.sync(out)?;
        // An incomplete last line is cut off.
        let file = GrowingFile::open(journal, found.bytes, faults)?;
        let mut recorded = earlier;
        recorded.extend(found.recorded);
        Ok(Outputs(Arc::new(Record {
            out: out.to_owned(),
            real_out: fs::canonicalize(out).map_err(failed)?,
            run,
            faults: faults.clone(),
            state: Mutex::new(State {
                journal: file,
                temporaries: 0,
                directories: found.directories,
                recorded,
            }),
        })))
    }

    /// Creates an output that will be published as `path`, below the output directory. Publishing
    /// fails if a file of the user has that name by then.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        let recorder = Arc::clone(&self.0);
        AtomicFile::create_recorded(path, recorder)
    }

    /// Whether this run, or one that it resumes, completed the output `path`, and the file has not
    /// changed since.
    pub fn is_written(&self, path: &Path) -> bool {
        let name = path.strip_prefix(&self.0.out);
        name.is_ok_and(|name| self.0.state().recorded.is_latest(&self.0.out, name))
    }

    /// The outputs that this run, or one that it resumes, recorded; by name.
    pub fn written(&self) -> Vec<OutputRecord> {
        let state = self.0.state();
        let own = state
            .recorded
            .latest()
            .filter(|(_, mark)| mark.stamp.is_some());
        own.map(|(name, mark)| OutputRecord {
            name: name.to_owned(),
            mark,
        })
        .collect()
    }
}

/// Removes the recorded outputs of an unfinished run in `out`. Files that were changed since are
/// kept, unless they are in `own`.
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
    for (name, _) in journal.recorded.latest() {
        if own.contains(name) || journal.recorded.is_own(out, name)? == Some(true) {
            remove_output(out, name, faults)?;
            directories.extend(name.parent());
        }
    }
    // A power failure must not restore files that are no longer recorded.
    for directory in directories {
        let path = out.join(directory);
        if path.is_dir() {
            directory::sync(&path, faults)?;
        }
    }
    directory::sync(out, faults)
}

/// Removes the output `name` of `out`, and its parent directories below `out` if they are empty
/// then. A symbolic link is kept.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_output(out: &Path, name: &Path, faults: &Faults) -> Result<()> {
    let path = out.join(name);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file || !path_text::is_below(name) {
        return Ok(());
    }
    directory::remove(&path, faults)?;
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
}

impl Recorder for Record {
    fn temporary(&self, _: &Path, directory: &Path) -> Result<PathBuf> {
        let mut state = self.state();
        // The recorded path is relative to the output directory, which may be moved before the run
        // resumes.
        let recorded = directory.strip_prefix(&self.real_out).unwrap_or(directory);
        if !state.directories.contains(recorded) {
            state
                .journal
                .append(journal::directory_line(recorded).as_bytes())?;
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
        let known = self.state().recorded.only(name);
        known.refuse_others(&self.out, &[name.to_owned()])?;
        let mark = FileMark {
            bytes: file.len(),
            digest,
            stamp: Some(Stamp::of(file)),
        };
        let mut state = self.state();
        state
            .journal
            .append(journal::output_line(name, &mark).as_bytes())?;
        state.recorded.add(name, mark);
        drop(state);
        self.faults
            .before(Operation::Rename, path)
            .map_err(|cause| error(path, cause))
    }
}
