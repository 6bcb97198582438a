//! Stamps of input files, to notice that one changes during a run.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::corpus::Source;
use crate::{Error, ErrorKind, Result};

/// Size, inode and modification time of a file, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its length.
    pub bytes: u64,
    inode: (u64, u64),
    modified: (i64, i64),
}

impl Stamp {
    /// The stamp of a source's file.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn of(source: &Source) -> Result<Stamp> {
        let found = std::fs::metadata(source.file())
            .map_err(|cause| Error::unreadable(&source.path, cause))?;
        Ok(Stamp::new(&found))
    }

    /// The stamp of a file with these properties.
    pub fn new(found: &Metadata) -> Stamp {
        Stamp {
            bytes: found.len(),
            inode: (found.dev(), found.ino()),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

/// The error for a source that changed.
pub fn changed(source: &Source) -> Error {
    let message = "changed while it was being read: start again with --restart";
    Error::new(ErrorKind::Changed, message).in_file(&source.path)
}
