//! Byte-for-byte copies of input files.

use std::fs::{File, Metadata};
use std::io::{ErrorKind as IoErrorKind, Write};
use std::os::unix::fs::MetadataExt;

use crate::corpus::Source;
use crate::engine::Progress;
use crate::io::{AtomicFile, append_at};
use crate::{Error, Result};

use super::shingle_sets::changed;

/// Bytes that are copied at a time.
const STEP_BYTES: usize = 1 << 20;

/// Size, inode and modification time of a file, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
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

    fn new(found: &Metadata) -> Stamp {
        Stamp {
            bytes: found.len(),
            inode: (found.dev(), found.ino()),
            modified: (found.mtime(), found.mtime_nsec()),
        }
    }
}

/// Copies the file of `source` to `output`. `stamp` is the file's stamp when the run began.
///
/// # Errors
/// [`ErrorKind::Changed`] if the file has another stamp, or another length, after copying;
/// [`ErrorKind::Interrupted`]; those of reading and writing.
pub fn copy(
    source: &Source,
    stamp: Option<&Stamp>,
    mut output: AtomicFile,
    progress: &Progress,
) -> Result<()> {
    let failed = |cause| Error::unreadable(&source.path, cause);
    let file = File::open(source.file()).map_err(failed)?;
    let mut buffer = Vec::new();
    let mut offset = 0;
    loop {
        progress.check()?;
        buffer.clear();
        let read = match append_at(&file, offset, STEP_BYTES, &mut buffer) {
            Ok(0) => break,
            Ok(read) => read as u64,
            Err(cause) if cause.kind() == IoErrorKind::Interrupted => continue,
            Err(cause) => return Err(failed(cause)),
        };
        output
            .write_all(&buffer)
            .map_err(|cause| output.error(cause))?;
        offset += read;
        progress.advance(read);
    }
    let found = Stamp::new(&file.metadata().map_err(failed)?);
    if stamp != Some(&found) || found.bytes != offset {
        return Err(changed(source));
    }
    output.publish()
}
