//! A lock on the output directory, for one process at a time.

use std::path::Path;

use crate::workdir::files::names::LOCK;
use crate::{Error, ErrorKind, Result};
use simtool_files::{DirectoryLock, FileLock, LockAttempt, directory};

/// A lock on an output directory.
pub struct Lock {
    _directory: Option<DirectoryLock>,
    _file: Option<FileLock>,
    /// A warning if other processes may not be locked out.
    pub warning: Option<String>,
}

/// Whether the file `lock` in `directory` may be one that [`Lock::take`] made: an empty file.
pub fn is_own(directory: &Path) -> bool {
    let found = directory.join(LOCK).symlink_metadata();
    found.is_ok_and(|found| found.is_file() && found.len() == 0)
}

impl Lock {
    /// Locks `out`, or the file `lock` in `directory` if directories cannot be locked.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if another process has the lock.
    pub fn take(out: &Path, directory: &Path) -> Result<Lock> {
        let busy = || {
            let message = "another simtool is working there: wait for it or choose another -o";
            Error::new(ErrorKind::Write, message).in_file(out)
        };
        let mut lock = Lock {
            _directory: None,
            _file: None,
            warning: None,
        };
        match DirectoryLock::exclusive(out)? {
            LockAttempt::Locked(held) => lock._directory = Some(held),
            LockAttempt::Busy => return Err(busy()),
            LockAttempt::Unsupported(cause) => {
                directory::create_all(directory)?;
                match FileLock::exclusive(&directory.join(LOCK)) {
                    Ok(Some(held)) => lock._file = Some(held),
                    Ok(None) => return Err(busy()),
                    Err(_) => {
                        lock.warning = Some(format!(
                            "{}: the file system has no locks ({cause}): do not start a second \
                             simtool with this -o",
                            out.display()
                        ));
                    }
                }
            }
        }
        Ok(lock)
    }
}
