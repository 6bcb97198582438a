//! One writer at a time.

use super::{read_error, write_error};
use crate::Result;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// An advisory lock (`flock`) on a file. The system releases it when the process ends, however it
/// ends; dropping it does too.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks `path`, which is created if need be, for this process alone; `None` if somebody else
    /// has locked it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the file cannot be created or locked.
    pub fn exclusive(path: &Path) -> Result<Option<FileLock>> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(path);
        let refused = |cause| {
            write_error(
                path,
                "cannot be locked for changes; what may not be changed can be opened for reading only",
                cause,
            )
        };
        let file = file.map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FileLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(refused(cause)),
        }
    }

    /// Locks the existing file `path` together with other readers; `None` if a writer has it.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file cannot be opened or locked.
    pub fn shared(path: &Path) -> Result<Option<FileLock>> {
        let file = File::open(path).map_err(|cause| read_error(path, cause))?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(FileLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(read_error(path, cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn one_writer_or_many_readers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        assert_eq!(FileLock::shared(&path).unwrap_err().kind(), ErrorKind::Read);
        let writer = FileLock::exclusive(&path).unwrap().unwrap();
        assert!(FileLock::exclusive(&path).unwrap().is_none());
        assert!(FileLock::shared(&path).unwrap().is_none());
        drop(writer);
        let _one = FileLock::shared(&path).unwrap().unwrap();
        let _two = FileLock::shared(&path).unwrap().unwrap();
        assert!(FileLock::exclusive(&path).unwrap().is_none());
        let missing = directory.path().join("nothing/lock");
        let error = FileLock::exclusive(&missing).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Write);
    }
}
