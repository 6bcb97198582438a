//! Exclusive locks on directories.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::locked_file::LockedFile;
use crate::Result;
use crate::write_error;

/// An advisory lock (`flock`) on a directory itself, which needs no lock file. It is released when
/// dropped, or by the system when the process ends.
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: LockedFile,
}

/// The result of an attempt to lock a directory.
#[derive(Debug)]
pub enum LockAttempt {
    /// This process has the lock.
    Locked(DirectoryLock),
    /// Another process has it.
    Busy,
    /// The file system does not support locks on directories (such as NFS).
    Unsupported(io::Error),
}

impl DirectoryLock {
    /// Locks the existing directory `path` exclusively, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the directory cannot be opened, or if it
    /// was replaced while it was locked.
    pub fn exclusive(path: &Path) -> Result<LockAttempt> {
        let failed = |cause| write_error(path, "cannot be locked", cause);
        let directory = File::open(path).map_err(failed)?;
        let directory = match LockedFile::new(directory, File::try_lock) {
            Ok(locked) => locked,
            Err(TryLockError::WouldBlock) => return Ok(LockAttempt::Busy),
            Err(TryLockError::Error(cause)) => return Ok(LockAttempt::Unsupported(cause)),
        };
        if !is_still(path, directory.file()).map_err(failed)? {
            return Err(failed(io::Error::other("it was replaced meanwhile")));
        }
        Ok(LockAttempt::Locked(DirectoryLock {
            _directory: directory,
        }))
    }
}

/// Whether `path` still refers to the open `file`.
pub(super) fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    let (named, held) = (std::fs::metadata(path)?, file.metadata()?);
    Ok((named.dev(), named.ino()) == (held.dev(), held.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let first = DirectoryLock::exclusive(path).unwrap();
        assert!(matches!(first, LockAttempt::Locked(_)));
        let second = DirectoryLock::exclusive(path).unwrap();
        assert!(matches!(second, LockAttempt::Busy));
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
        drop(first);
        let third = DirectoryLock::exclusive(path).unwrap();
        assert!(matches!(third, LockAttempt::Locked(_)));
        assert!(DirectoryLock::exclusive(&path.join("missing")).is_err());
    }

    #[test]
    fn a_replaced_directory_is_not_the_one_that_was_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("held");
        std::fs::create_dir(&path).unwrap();
        let held = File::open(&path).unwrap();
        assert!(is_still(&path, &held).unwrap());
        std::fs::rename(&path, directory.path().join("moved")).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(!is_still(&path, &held).unwrap());
    }
}
