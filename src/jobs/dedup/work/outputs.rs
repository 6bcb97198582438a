//! The output files of a run and their record.
//!
//! The record tells a resumed run which outputs are complete and which temporary files to remove.
//! Files that no run recorded are neither replaced nor removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use simtool_objects::{RemoteDirectory, Stored};

use super::errors::error;
use super::growing_file::GrowingFile;
use super::journal::{self, Journal};
use super::place::{Place, Remote};
use super::recorded_files::{FileMark, RecordedFiles, Stamp};
use super::upload::upload;
use crate::Result;
use crate::io::{AtomicFile, Faults, Operation, Recorder, directory};

/// The outputs of a run, below one directory. Clones share their record.
#[derive(Clone)]
pub struct Outputs(Arc<Record>);

struct Record {
    out: PathBuf,
    /// The directory of an object store where complete outputs are moved to.
    remote: Option<Arc<dyn RemoteDirectory>>,
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
    /// The outputs that this run, or one that it resumes, recorded.
    own: BTreeSet<PathBuf>,
    /// The objects that are known to be in the remote directory.
    objects: BTreeMap<PathBuf, Stored>,
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
    /// Opens the record `journal` of the outputs in `place`, which must be undamaged, for the run with
    /// the number `run`. Files that `earlier` runs wrote may also be replaced. Removes temporary
    /// files of a killed process in the local directory, in the recorded ones below it, and in those
    /// of the outputs `names`. Ends its unfinished uploads, and moves complete outputs where they
    /// belong.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn open(
        place: Place,
        journal: &Path,
        run: u64,
        earlier: RecordedFiles,
        names: &[PathBuf],
        faults: &Faults,
    ) -> Result<Outputs> {
        let failed = |cause| error(journal, cause);
        let Place { out, remote } = place;
        let found = Journal::read(journal)?;
        found.remove_temporaries(&out, names, &[run], faults)?;
        found.recorded.sync(&out)?;
        let (remote, objects) = match remote {
            Some(Remote { directory, objects }) => (Some(directory), objects),
            None => (None, BTreeMap::new()),
        };
        if let Some(directory) = &remote {
            abort_uploads(&**directory, &found.uploads)?;
        }
        // An incomplete last line is cut off.
        let file = GrowingFile::open(journal, found.bytes, faults)?;
        let mut recorded = earlier;
        let own = found.recorded;
        recorded.extend(own.clone());
        let outputs = Outputs(Arc::new(Record {
            real_out: fs::canonicalize(&out).map_err(failed)?,
            out,
            remote,
            run,
            faults: faults.clone(),
            state: Mutex::new(State {
                journal: file,
                temporaries: 0,
                directories: found.directories,
                recorded,
                own: own.names().map(Path::to_owned).collect(),
                objects,
            }),
        }));
        for (name, mark) in own.latest() {
            outputs.0.move_complete(&own, name, mark)?;
        }
        Ok(outputs)
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
        let Ok(name) = path.strip_prefix(&self.0.out) else {
            return false;
        };
        let state = self.0.state();
        match &self.0.remote {
            Some(_) => state
                .recorded
                .is_latest_object(name, state.objects.get(name)),
            None => state.recorded.is_latest(&self.0.out, name),
        }
    }

    /// The outputs that this run, or one that it resumes, recorded; by name.
    pub fn written(&self) -> Vec<OutputRecord> {
        let state = self.0.state();
        let own = state
            .recorded
            .latest()
            .filter(|(name, _)| state.own.contains(*name));
        own.map(|(name, mark)| OutputRecord {
            name: name.to_owned(),
            mark: mark.clone(),
        })
        .collect()
    }
}

/// Ends unfinished uploads.
///
/// # Errors
/// Those of the requests.
pub fn abort_uploads(directory: &dyn RemoteDirectory, uploads: &[(PathBuf, String)]) -> Result<()> {
    let mut uploads = uploads.iter();
    uploads.try_for_each(|(name, upload)| directory.abort(name, upload))
}

/// Removes what the run that wrote `journal` left in the local directory, and ends its uploads, if
/// all its outputs are in the remote one.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_local(place: &Place, journal: &Journal, faults: &Faults) -> Result<()> {
    let Some(remote) = &place.remote else {
        return Ok(());
    };
    abort_uploads(&*remote.directory, &journal.uploads)?;
    for name in journal.recorded.names() {
        if journal.recorded.is_own_file(&place.out, name)? == Some(true) {
            directory::remove(&place.out.join(name), faults)?;
        }
    }
    Ok(())
}

/// Removes the recorded outputs of an unfinished run, and ends its uploads. Files that were changed since are
/// kept, unless they are in `own`.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn remove_recorded(
    place: &Place,
    journal: &Journal,
    own: &BTreeSet<PathBuf>,
    faults: &Faults,
) -> Result<()> {
    if let Some(remote) = &place.remote {
        abort_uploads(&*remote.directory, &journal.uploads)?;
    }
    let (out, mut directories) = (&place.out, BTreeSet::new());
    for name in journal.recorded.names() {
        if own.contains(name) || journal.recorded.is_own(place, name)? == Some(true) {
            place.remove(name, faults)?;
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

impl Record {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the complete output `name`, whose latest version is `mark`, to the remote directory, if
    /// there is one and the output is not there yet. `own` has the versions that this run recorded.
    fn move_complete(&self, own: &RecordedFiles, name: &Path, mark: &FileMark) -> Result<()> {
        let Some(directory) = &self.remote else {
            return Ok(());
        };
        let path = self.out.join(name);
        if own.is_latest(&self.out, name) {
            let known = self.state().recorded.only(name);
            let mut record = |upload: &str| self.append(&journal::upload_line(name, upload));
            let stored = upload(&**directory, name, (&path, mark), &known, &mut record)?;
            let mark = FileMark {
                stamp: Some(Stamp::Object {
                    etag: stored.etag.clone(),
                }),
                ..mark.clone()
            };
            self.append(&journal::output_line(name, &mark))?;
            let mut state = self.state();
            state.recorded.add(name, mark);
            state.objects.insert(name.to_owned(), stored);
        } else if own.is_own_file(&self.out, name)? != Some(true) {
            return Ok(());
        }
        // The object has its bytes.
        directory::remove(&path, &self.faults)
    }

    fn append(&self, line: &str) -> Result<()> {
        self.state().journal.append(line.as_bytes())
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
        let staged = Place::new(&self.out, None);
        known.refuse_others(&staged, &[name.to_owned()])?;
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
        state.own.insert(name.to_owned());
        drop(state);
        self.faults
            .before(Operation::Rename, path)
            .map_err(|cause| error(path, cause))
    }

    fn published(&self, path: &Path) -> Result<()> {
        let (Some(_), Ok(name)) = (&self.remote, path.strip_prefix(&self.out)) else {
            return Ok(());
        };
        let own = self.state().recorded.only(name);
        let mut latest = own.latest();
        latest.try_for_each(|(name, mark)| self.move_complete(&own, name, mark))
    }
}
