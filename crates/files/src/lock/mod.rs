//! Advisory locks on files.

pub mod directory_lock;
mod locked_file;

use super::regular::{open_regular, read_regular};
use super::{read_error, write_error};
use crate::Result;
use directory_lock::is_still;
use locked_file::LockedFile;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// The number of attempts to lock a file that is replaced meanwhile.
const ATTEMPTS: usize = 10;

/// An advisory lock (`flock`) on a file. It is released when dropped, or by the system when the
/// process ends for any reason.
#[derive(Debug)]
pub struct FileLock {
    file: LockedFile,
}

impl FileLock {
    /// Locks `path` exclusively, creating it if necessary; `None` if another process has locked it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the file cannot be created or locked.
    pub fn exclusive(path: &Path) -> Result<Option<FileLock>> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        lock(path, || open_regular(path, &mut options), File::try_lock)
            .map_err(|cause| unlockable(path, cause))
    }

    /// Locks the existing file `path` exclusively; `None` if another process has locked it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the file is missing or cannot be locked.
    pub fn existing(path: &Path) -> Result<Option<FileLock>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        lock(path, || open_regular(path, &mut options), File::try_lock)
            .map_err(|cause| unlockable(path, cause))
    }

    /// Locks the existing file `path` shared; `None` if another process has locked it exclusively.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file cannot be opened or locked.
    pub fn shared(path: &Path) -> Result<Option<FileLock>> {
        lock(path, || read_regular(path), File::try_lock_shared)
            .map_err(|cause| read_error(path, cause))
    }

    /// Whether `path` still refers to the locked file.
    pub fn is_at(&self, path: &Path) -> bool {
        is_still(path, self.file.file()).unwrap_or(false)
    }
}

/// Locks the file at `path`. If the path refers to another file once the lock is held, tries again
/// with that file, since another process may lock it.
fn lock(
    path: &Path,
    mut open: impl FnMut() -> io::Result<File>,
    try_lock: impl Fn(&File) -> std::result::Result<(), TryLockError>,
) -> io::Result<Option<FileLock>> {
    for _ in 0..ATTEMPTS {
        let file = open()?;
        let lock = match LockedFile::new(file, &try_lock) {
            Ok(file) => FileLock { file },
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        };
        if lock.is_at(path) {
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

fn unlockable(path: &Path, cause: io::Error) -> crate::Error {
    let task =
        "cannot be locked for changes; what may not be changed can be opened for reading only";
    write_error(path, task, cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::fs;

    #[test]
    fn one_writer_or_many_readers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        assert_eq!(FileLock::shared(&path).unwrap_err().kind(), ErrorKind::Read);
        assert_eq!(
            FileLock::existing(&path).unwrap_err().kind(),
            ErrorKind::Write
        );
        let writer = FileLock::exclusive(&path).unwrap().unwrap();
        assert!(FileLock::exclusive(&path).unwrap().is_none());
        assert!(FileLock::existing(&path).unwrap().is_none());
        assert!(FileLock::shared(&path).unwrap().is_none());
        drop(writer);
        let _one = FileLock::shared(&path).unwrap().unwrap();
        let _two = FileLock::shared(&path).unwrap().unwrap();
        assert!(FileLock::exclusive(&path).unwrap().is_none());
        let missing = directory.path().join("nothing/lock");
        let error = FileLock::exclusive(&missing).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Write);
    }

    #[test]
    fn a_file_that_is_replaced_while_it_is_locked_is_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let mut opened = 0;
        let open = || {
            let file = File::create(&path)?;
            opened += 1;
            // Removes the file once, between opening and locking.
            if opened == 1 {
                fs::remove_file(&path)?;
            }
            Ok(file)
        };
        let held = lock(&path, open, File::try_lock).unwrap().unwrap();
        assert_eq!(opened, 2);
        assert!(held.is_at(&path));
        fs::remove_file(&path).unwrap();
        assert!(!held.is_at(&path));
        fs::write(&path, "").unwrap();
        assert!(!held.is_at(&path));
    }
}
