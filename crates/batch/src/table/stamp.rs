//! Stamps of input files, to notice that one changes during a run.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_files::InputFile;

/// Size, inode and modification time of a file, to detect changes. Of an object of a server, only
/// the size: every answer of the server is compared with its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputStamp {
    /// Its length.
    pub bytes: u64,
    inode: (u64, u64),
    modified: (i64, i64),
}

impl InputStamp {
    /// The stamp of a source's file; of rows in memory, which nothing changes, the size.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn of(source: &Source) -> Result<InputStamp> {
        if let Some(object) = &source.object {
            return Ok(InputStamp::of_object(object.identity().bytes));
        }
        if !source.has_file() {
            return Ok(InputStamp::of_object(source.bytes.unwrap_or_default()));
        }
        let found = std::fs::metadata(source.file())
            .map_err(|cause| Error::unreadable(&source.path, cause))?;
        Ok(InputStamp::new(&found))
    }

    /// The stamp of an open file of `source`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn of_open(source: &Source, file: &InputFile) -> Result<InputStamp> {
        let failed = |cause| Error::unreadable(&source.path, cause);
        match file {
            InputFile::Local(file) => Ok(InputStamp::new(&file.metadata().map_err(failed)?)),
            #[cfg(feature = "cloud")]
            InputFile::Remote(_) => Ok(InputStamp::of_object(file.bytes().map_err(failed)?)),
        }
    }

    fn of_object(bytes: u64) -> InputStamp {
        InputStamp {
            bytes,
            inode: (0, 0),
            modified: (0, 0),
        }
    }

    fn new(found: &Metadata) -> InputStamp {
        InputStamp {
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
