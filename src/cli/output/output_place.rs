//! The directory of `--output`: local, or in an object store.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool::{Error, ErrorKind, Result};
use simtool_objects::{Client, Location, RemoteDirectory, location};
use xxhash_rust::xxh3::xxh3_64;

/// Where outputs are published.
pub struct OutputPlace {
    /// The directory that was given.
    pub given: PathBuf,
    /// The local directory: the same, or that of outputs under way.
    pub local: PathBuf,
    /// The directory of an object store, if one was given.
    pub remote: Option<Arc<dyn RemoteDirectory>>,
}

impl OutputPlace {
    /// The place that `--output` names. The local directory of a remote one is in `temp_dir` or in
    /// that of the system, and has a name of its own, so that the same command finds it again.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a place to which nothing can be written; those of
    /// [`check_private`] if the local directory of a remote one exists.
    pub fn of(client: &Client, output: &Path, temp_dir: Option<&Path>) -> Result<OutputPlace> {
        if location::scheme(output).is_none() {
            return Ok(OutputPlace {
                given: output.to_owned(),
                local: output.to_owned(),
                remote: None,
            });
        }
        let remote = client.open_directory(output)?;
        let url = Location::parse(output)?.to_string();
        let digest = xxh3_64(url.trim_end_matches('/').as_bytes());
        let parent = temp_dir.map_or_else(env::temp_dir, Path::to_owned);
        let local = parent.join(format!("simtool-{digest:016x}"));
        if fs::symlink_metadata(&local).is_ok() {
            check_private(&local)?;
        }
        Ok(OutputPlace {
            given: output.to_owned(),
            local,
            remote: Some(remote),
        })
    }

    /// Begins a run with `begin`, after making the local directory of a remote one for this user alone.
    /// A run that is refused leaves no empty one.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be made; those of [`check_private`] if it exists; those of
    /// `begin`.
    pub fn begin<T>(&self, begin: impl FnOnce() -> Result<T>) -> Result<T> {
        self.prepare()?;
        begin().inspect_err(|_| {
            if self.remote.is_some() {
                // One with files stays.
                let _ = fs::remove_dir(&self.local);
            }
        })
    }

    fn prepare(&self) -> Result<()> {
        if self.remote.is_none() {
            return Ok(());
        }
        match DirBuilder::new().mode(0o700).create(&self.local) {
            Ok(()) => Ok(()),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                check_private(&self.local)
            }
            Err(cause) => {
                let error = Error::new(ErrorKind::Write, "cannot be made");
                Err(error.in_file(&self.local).caused_by(cause))
            }
        }
    }

    /// The contents of the published summary.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; those of a request.
    pub fn published(&self) -> Result<String> {
        let name = Path::new("summary.json");
        let Some(remote) = &self.remote else {
            let path = self.local.join(name);
            return std::fs::read_to_string(&path).map_err(|cause| Error::unreadable(path, cause));
        };
        let mut text = Vec::new();
        let mut add = |piece: &[u8]| text.extend_from_slice(piece);
        let is_there = remote.read(name, &mut add)?;
        let text = String::from_utf8(text).ok().filter(|_| is_there);
        text.ok_or_else(|| {
            let message = "was changed or removed since it was written";
            Error::new(ErrorKind::Read, message).in_file(remote.url(name))
        })
    }
}

/// Checks that `path` is a directory of this user, which other users cannot open: in a directory that
/// all users share, others may have made it.
///
/// # Errors
/// [`ErrorKind::Write`] if it is not.
fn check_private(path: &Path) -> Result<()> {
    let failed = |cause: io::Error| {
        let error = Error::new(ErrorKind::Write, "cannot be used for files under way");
        error.in_file(path).caused_by(cause)
    };
    let found = fs::symlink_metadata(path).map_err(failed)?;
    let parent = path.parent().unwrap_or(path);
    // A file that this process makes there has the owner that a directory would have.
    let own = tempfile::tempfile_in(parent).and_then(|file| file.metadata());
    let own = own.map_err(failed)?.uid();
    let wrong = match found.is_dir() {
        false => "is no directory",
        true if found.uid() != own => "belongs to another user",
        true if found.mode() & 0o077 != 0 => "can be opened by other users",
        true => return Ok(()),
    };
    let message = format!(
        "{wrong}, and is not used for files under way (remove it, or give another --temp-dir)"
    );
    Err(Error::new(ErrorKind::Write, message).in_file(path))
}

#[cfg(feature = "cloud")]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn place(local: &Path) -> OutputPlace {
        OutputPlace {
            given: PathBuf::new(),
            local: local.to_owned(),
            remote: Some(
                Client::new()
                    .open_directory(Path::new("s3://bucket/out"))
                    .unwrap(),
            ),
        }
    }

    /// Promise (Outputs in object stores): The local directory of an upload …
    #[test]
    fn local_directories_are_private() {
        let parent = tempfile::tempdir().unwrap();
        let local = parent.path().join("new");
        for _ in 0..2 {
            place(&local).prepare().unwrap();
            assert_eq!(fs::metadata(&local).unwrap().mode() & 0o777, 0o700);
        }
        let refused = |name: &str| place(&parent.path().join(name)).prepare().unwrap_err();
        symlink(&local, parent.path().join("link")).unwrap();
        assert!(refused("link").to_string().contains("is no directory"));
        for mode in [0o777, 0o750, 0o701] {
            fs::set_permissions(&local, fs::Permissions::from_mode(mode)).unwrap();
            let error = refused("new");
            assert_eq!(error.kind(), ErrorKind::Write);
            assert!(error.to_string().contains("other users"), "{error}");
        }
        fs::set_permissions(&local, fs::Permissions::from_mode(0o700)).unwrap();
        // Only the superuser can give a directory away.
        if std::os::unix::fs::chown(&local, Some(12345), None).is_ok() {
            assert!(refused("new").to_string().contains("another user"));
        }
    }
}
