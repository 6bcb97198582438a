//! Free space of file systems.

use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file system of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The device number, equal for directories of the same file system.
    pub device: u64,
    /// The number of bytes that this process may still write.
    pub free_bytes: u64,
}

impl FileSystem {
    /// The file system of `directory`, or of its nearest existing ancestor; `None` if the system
    /// cannot tell.
    pub fn of(directory: &Path) -> Option<FileSystem> {
        let absolute = std::path::absolute(directory).ok()?;
        let existing = absolute.ancestors().find(|path| path.exists())?;
        Some(FileSystem {
            device: fs::metadata(existing).ok()?.dev(),
            free_bytes: free_bytes(existing)?,
        })
    }
}

#[allow(
    clippy::unnecessary_cast,
    reason = "the fields are not of 64 bits on every system"
)]
fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut found = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `path` ends with a zero byte, and `found` has the size that the call writes.
    let failed = unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) } != 0;
    if failed {
        return None;
    }
    // SAFETY: the call succeeded, so `found` is initialised.
    let found = unsafe { found.assume_init() };
    (found.f_bavail as u64).checked_mul(found.f_frsize as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_not_there_yet_has_the_space_of_the_one_above() {
        let directory = tempfile::tempdir().unwrap();
        let found = FileSystem::of(directory.path()).unwrap();
        let below = FileSystem::of(&directory.path().join("a/b")).unwrap();
        assert_eq!(below.device, found.device);
        assert!(found.free_bytes > 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn other_file_systems_have_other_devices() {
        let [root, proc] = ["/", "/proc"].map(|path| FileSystem::of(Path::new(path)).unwrap());
        assert_ne!(root.device, proc.device);
    }
}
