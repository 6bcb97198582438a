//! The output files of a run and their record.
//!
//! The record tells a resumed run which outputs are complete and which temporary files to remove.
//! Files that no run recorded are neither replaced nor removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use simtool_objects::{RemoteDirectory, Stored};

use super::journal::{self, Journal};
use super::parallel;
use super::place::{Place, Remote};
use super::recorded_files::{FileMark, OutputStamp, RecordedFiles, was_changed};
use super::upload::upload;
use crate::Result;
use crate::workdir::files::errors::error;
use crate::workdir::files::file;
use crate::workdir::files::growing_file::GrowingFile;
use simtool_engine::Progress;
use simtool_files::{AtomicFile, CompleteFile, Faults, Operation, Recorder, directory};

/// The outputs of a run, below one directory. Clones share their record.
#[derive(Clone)]
pub struct Outputs(Arc<SharedOutputs>);

struct SharedOutputs {
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
    /// The directories below that of the outputs whose names are durable.
    durable: BTreeSet<PathBuf>,
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
        let growing = GrowingFile::open(journal, found.bytes, faults)?;
        let mut recorded = earlier;
        let own = found.recorded;
        recorded.extend(own.clone());
        let outputs = Outputs(Arc::new(SharedOutputs {
            real_out: fs::canonicalize(&out).map_err(failed)?,
            out,
            remote,
            run,
            faults: faults.clone(),
            state: Mutex::new(State {
                journal: growing,
                temporaries: 0,
                directories: found.directories,
                durable: BTreeSet::new(),
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
    /// Errors of [`AtomicFile::create`].
    pub fn create(&self, path: &Path) -> Result<AtomicFile> {
        let recorder = Arc::clone(&self.0);
        AtomicFile::create_recorded(path, recorder)
    }

    /// An output for an [`OutputGroup`](crate::workdir::outputs::group::OutputGroup). It is created when it becomes large, or when
    /// the group is published; so are its missing directories.
    pub fn create_later(&self, path: &Path) -> AtomicFile {
        let recorder = Arc::clone(&self.0);
        AtomicFile::create_later(path, recorder)
    }

    /// Publishes `files` together.
    pub(crate) fn publish(&self, files: Vec<AtomicFile>, progress: &Progress) -> Result<()> {
        self.0.publish(files, progress)
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

    /// Compares the complete outputs of an interrupted run with their digests. They are not written
    /// again, and a change need not show in their length and time.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) naming an output that was changed, or that
    /// cannot be read; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn verify(&self, progress: &Progress) -> Result<()> {
        if self.0.remote.is_some() {
            // An object with the recorded entity tag has its bytes.
            return Ok(());
        }
        let out = &self.0.out;
        let mut written = self.written();
        let state = self.0.state();
        written.retain(|output| state.recorded.is_latest(out, &output.name));
        drop(state);
        let check = |OutputRecord { name, mark }: OutputRecord| {
            let path = out.join(name);
            let found = file::digest_checked(&path, || progress.check())?;
            match found == Some((mark.bytes, mark.digest)) {
                true => Ok(()),
                false => Err(was_changed(&path)),
            }
        };
        parallel::map(written, check).map(drop)
    }

    /// The recorded version of the output `name`, relative to the output directory.
    pub fn mark(&self, name: &Path) -> Option<FileMark> {
        let state = self.0.state();
        let is_own = state.own.contains(name);
        is_own.then(|| state.recorded.latest_of(name).cloned())?
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
/// Errors of the requests.
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

impl SharedOutputs {
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
                stamp: Some(OutputStamp::Object {
                    etag: stored.etag.clone(),
                }),
                ..mark.clone()
            };
            self.append(&journal::outputs_line(&[(name, mark.clone())]))?;
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

    /// Publishes `files` together; see [`group`](crate::workdir::outputs::group).
    fn publish(&self, files: Vec<AtomicFile>, progress: &Progress) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let parents = files.iter().filter_map(|file| file.path().parent());
        self.make_directories(&parents.collect())?;
        let complete = parallel::map(files, |file| {
            progress.check()?;
            file.complete()
        })?;
        // From here on, the group is published in a few steps.
        progress.check()?;
        let complete: Vec<CompleteFile> = complete.into_iter().flatten().collect();
        let described = complete.iter();
        let described = described.map(|file| (file.path(), &file.found, file.digest));
        self.record(&described.collect::<Vec<_>>())?;
        let paths: Vec<PathBuf> = complete.iter().map(|file| file.path().to_owned()).collect();
        let mut unsynced = BTreeSet::new();
        for file in complete {
            self.before_rename(file.path())?;
            unsynced.insert(file.rename()?);
        }
        self.sync_all(unsynced)?;
        paths.iter().try_for_each(|path| self.published(path))
    }

    /// Makes the directories `parents` durably, and records those that may get temporary files.
    ///
    /// A directory that is there already may be one that a killed process made, so it is treated like
    /// a new one.
    fn make_directories(&self, parents: &BTreeSet<&Path>) -> Result<()> {
        let mut state = self.state();
        let (mut new, mut names) = (Vec::new(), BTreeSet::new());
        for parent in parents {
            let Ok(recorded) = parent.strip_prefix(&self.out) else {
                continue;
            };
            if state.durable.contains(recorded) {
                continue;
            }
            let made = fs::create_dir_all(parent);
            made.map_err(|cause| error(parent, cause))?;
            if state.directories.insert(recorded.to_owned()) {
                new.push(recorded);
            }
            let unsynced = recorded.ancestors().take_while(|directory| {
                !directory.as_os_str().is_empty() && !state.durable.contains(*directory)
            });
            names.extend(unsynced.map(Path::to_owned));
        }
        if !new.is_empty() {
            let line = journal::directories_line(&new);
            state.journal.append(line.as_bytes())?;
        }
        drop(state);
        let paths = names.iter().map(|name| self.out.join(name));
        let above = paths.filter_map(|path| path.parent().map(Path::to_owned));
        self.sync_all(above.collect())?;
        // Not earlier, as another thread may publish files there.
        self.state().durable.extend(names);
        Ok(())
    }

    /// Records complete files, which get their names next: the path, metadata and digest of each.
    fn record(&self, files: &[(&Path, &Metadata, u128)]) -> Result<()> {
        let staged = Place::new(&self.out, None);
        let mut state = self.state();
        let mut outputs = Vec::new();
        for (path, found, digest) in files {
            let Ok(name) = path.strip_prefix(&self.out) else {
                continue;
            };
            let known = state.recorded.only(name);
            known.refuse_others(&staged, &[name.to_owned()])?;
            let mark = FileMark {
                bytes: found.len(),
                digest: *digest,
                stamp: Some(OutputStamp::of(found)),
            };
            outputs.push((name, mark));
        }
        if outputs.is_empty() {
            return Ok(());
        }
        let line = journal::outputs_line(&outputs);
        state.journal.append(line.as_bytes())?;
        for (name, mark) in outputs {
            state.recorded.add(name, mark);
            state.own.insert(name.to_owned());
        }
        Ok(())
    }

    fn before_rename(&self, path: &Path) -> Result<()> {
        let before = self.faults.before(Operation::Rename, path);
        before.map_err(|cause| error(path, cause))
    }

    /// Makes the entries of directories durable.
    fn sync_all(&self, directories: BTreeSet<PathBuf>) -> Result<()> {
        let all = directories.into_iter().collect();
        let sync = |path: PathBuf| directory::sync(&path, &self.faults);
        parallel::map(all, sync).map(drop)
    }
}

impl Recorder for SharedOutputs {
    fn prepare(&self, path: &Path) -> Result<()> {
        let parents = path.parent().into_iter().collect();
        self.make_directories(&parents)
    }

    fn temporary(&self, _: &Path, directory: &Path) -> Result<PathBuf> {
        let mut state = self.state();
        // The recorded path is relative to the output directory, which may be moved before the run
        // resumes.
        let recorded = directory.strip_prefix(&self.real_out).unwrap_or(directory);
        if !state.directories.contains(recorded) {
            state
                .journal
                .append(journal::directories_line(&[recorded]).as_bytes())?;
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
        self.record(&[(path, file, digest)])?;
        self.before_rename(path)
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
