//! Where the outputs of a run are: in a local directory, or in a directory of an object store, where
//! each is moved when it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use simtool_objects::{RemoteDirectory, Stored};
use xxhash_rust::xxh3::Xxh3;

use crate::workdir::files::errors::error;
use crate::workdir::files::{file, path_text};
use crate::{Error, ErrorKind, Result};
use simtool_files::{Faults, directory, regular_contents};

/// The output directory of a run.
pub struct Place {
    /// The local directory. If there is a remote one, it has only outputs that are under way.
    pub out: PathBuf,
    /// The directory of an object store, if outputs belong there.
    pub remote: Option<Remote>,
}

/// A directory of an object store.
pub struct Remote {
    /// The directory.
    pub directory: Arc<dyn RemoteDirectory>,
    /// The objects in it that were [looked for](Place::find).
    pub objects: BTreeMap<PathBuf, Stored>,
}

/// The size and age of an output.
pub struct OutputMetadata {
    /// Its length.
    pub bytes: u64,
    /// The time of its last modification, if known.
    pub modified: Option<SystemTime>,
}

impl Place {
    /// The local directory `out`, from which outputs go to `remote`.
    pub fn new(out: &Path, remote: Option<&Arc<dyn RemoteDirectory>>) -> Place {
        Place {
            out: out.to_owned(),
            remote: remote.map(|directory| Remote {
                directory: Arc::clone(directory),
                objects: BTreeMap::new(),
            }),
        }
    }

    /// The name of an output for messages.
    pub fn shown(&self, name: &Path) -> PathBuf {
        match &self.remote {
            Some(remote) => remote.directory.url(name),
            None => self.out.join(name),
        }
    }

    /// Looks for the objects with these names.
    ///
    /// # Errors
    /// Errors of the request.
    pub fn find<'a>(&mut self, names: impl Iterator<Item = &'a Path>) -> Result<()> {
        if let Some(remote) = &mut self.remote {
            let names: BTreeSet<&Path> = names.collect();
            remote.objects = remote.directory.list(&|name| names.contains(name))?;
        }
        Ok(())
    }

    /// The object with the name of an output, if there is one.
    pub fn object(&self, name: &Path) -> Option<&Stored> {
        self.remote.as_ref()?.objects.get(name)
    }

    /// The size and age of an output where it belongs; `None` if it is not there.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if nothing can be found out.
    pub fn found(&self, name: &Path) -> Result<Option<OutputMetadata>> {
        if self.remote.is_some() {
            return Ok(self.object(name).map(|object| OutputMetadata {
                bytes: object.bytes,
                modified: object.modified.map(time),
            }));
        }
        let path = self.out.join(name);
        match fs::metadata(&path) {
            Ok(found) => Ok(Some(OutputMetadata {
                bytes: found.len(),
                modified: found.modified().ok(),
            })),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(error(&path, cause)),
        }
    }

    /// The bytes of a small output where it belongs; `None` if it is not there.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; those of the request.
    pub fn contents(&self, name: &Path) -> Result<Option<Vec<u8>>> {
        if let Some(remote) = &self.remote {
            let mut bytes = Vec::new();
            let mut add = |piece: &[u8]| bytes.extend_from_slice(piece);
            let is_there = remote.directory.read(name, &mut add)?;
            return Ok(is_there.then_some(bytes));
        }
        let path = self.out.join(name);
        match regular_contents(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::unreadable(path, cause)),
        }
    }

    /// The length and xxh3-128 of an output where it belongs; `None` if it is not there.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be read.
    pub fn digest(&self, name: &Path) -> Result<Option<(u64, u128)>> {
        match &self.remote {
            Some(remote) => digest(&*remote.directory, name),
            None => file::digest(&self.out.join(name)),
        }
    }

    /// Removes an output, under way or where it belongs, and the parent directories of a file below
    /// the output directory if they are empty then. A symbolic link is kept.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; [`ErrorKind::Changed`] if the object is not that which was found.
    pub fn remove(&self, name: &Path, faults: &Faults) -> Result<()> {
        if let Some(remote) = &self.remote
            && let Some(object) = remote.objects.get(name)
        {
            match remote.directory.head(name)? {
                Some(found) if found.bytes == object.bytes && found.etag == object.etag => {
                    remote.directory.delete(name)?;
                }
                Some(_) => {
                    let message = "was changed by another program while this command ran";
                    let error = Error::new(ErrorKind::Changed, message);
                    return Err(error.in_file(self.shown(name)));
                }
                None => {}
            }
        }
        let path = self.out.join(name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if !is_file || !path_text::is_below(name) {
            return Ok(());
        }
        directory::remove(&path, faults)?;
        for parent in name.ancestors().skip(1) {
            if parent.as_os_str().is_empty() || fs::remove_dir(self.out.join(parent)).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// The length and xxh3-128 of an object; `None` if it does not exist.
///
/// # Errors
/// Errors of the request.
pub fn digest(directory: &dyn RemoteDirectory, name: &Path) -> Result<Option<(u64, u128)>> {
    let (mut hash, mut bytes) = (Xxh3::new(), 0);
    let is_there = directory.read(name, &mut |piece| {
        hash.update(piece);
        bytes += piece.len() as u64;
    })?;
    Ok(is_there.then(|| (bytes, hash.digest128())))
}

fn time(seconds: i64) -> SystemTime {
    let past = Duration::from_secs(seconds.unsigned_abs());
    let time = match seconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(past),
        false => SystemTime::UNIX_EPOCH.checked_add(past),
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
