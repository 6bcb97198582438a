//! Files and directories that are locked until they are dropped.

use std::fs::{File, TryLockError};

/// An open file with an advisory lock (`flock`), which the system also releases when the process
/// ends.
#[derive(Debug)]
pub(super) struct LockedFile {
    file: File,
    /// The process that locked it.
    process: u32,
}

impl LockedFile {
    /// Locks `file` with `try_lock`.
    ///
    /// # Errors
    /// Errors of `try_lock`.
    pub fn new(
        file: File,
        try_lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<LockedFile, TryLockError> {
        try_lock(&file)?;
        Ok(LockedFile {
            file,
            process: std::process::id(),
        })
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// Unlocks the file. To close it is not enough: a child process that another thread is starting has
/// a copy of the descriptor until it runs its program. A forked process, on the other hand, must not
/// unlock what its parent has locked.
impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // If this fails, closing the file unlocks it.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the file at a path can be locked after a lock of `process` on it was dropped, although
    /// another process still has a copy of the descriptor.
    fn is_unlocked_by(process: u32) -> bool {
        let directory = tempfile::tempdir().unwrap();
        let open = || File::open(directory.path()).unwrap();
        let mut first = LockedFile::new(open(), File::try_lock).unwrap();
        first.process = process;
        let _copy = first.file().try_clone().unwrap();
        drop(first);
        LockedFile::new(open(), File::try_lock).is_ok()
    }

    /// Promise (Deduplication): Two processes do not work in …
    #[test]
    fn a_copy_of_the_descriptor_does_not_hold_the_lock() {
        assert!(is_unlocked_by(std::process::id()));
    }

    /// Promise (Deduplication): Two processes do not work in …
    #[test]
    fn a_forked_process_does_not_unlock() {
        assert!(!is_unlocked_by(std::process::id() + 1));
    }
}
