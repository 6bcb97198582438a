//! Unnamed temporary files, written sequentially and read by offset.

use super::record_file::RecordFile;
use crate::faults::{Faults, Operation};
use crate::write_error;
use crate::{Error, ErrorKind, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;

/// Bytes written at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// An unnamed temporary file that is written sequentially.
///
/// It disappears with the [`Spooled`] file that it becomes, even if the process is killed. Uses 1
/// MiB of memory.
pub struct Spool {
    directory: PathBuf,
    file: File,
    /// The length of the file in bytes.
    written: u64,
    buffer: Vec<u8>,
    faults: Faults,
}

impl Spool {
    /// Creates an empty file in `directory`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming `directory` if it cannot be created there.
    pub fn create(directory: &Path) -> Result<Spool> {
        let file =
            tempfile::tempfile_in(directory).map_err(|cause| unwritable(directory, cause))?;
        Ok(Spool {
            directory: directory.to_owned(),
            file,
            written: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            faults: Faults::default(),
        })
    }

    /// Sets the fault injection.
    pub fn with_faults(self, faults: &Faults) -> Spool {
        let faults = faults.clone();
        Spool { faults, ..self }
    }

    /// Appends `bytes`; returns their offset.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming the directory if they cannot be written.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.written + self.buffer.len() as u64;
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() > BUFFER_BYTES {
            self.write(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(offset)
    }

    /// Completes the file for reading.
    ///
    /// # Errors
    /// Errors of [`append`](Self::append).
    pub fn finish(mut self) -> Result<Spooled> {
        self.flush()?;
        Ok(Spooled {
            directory: self.directory,
            file: self.file,
            bytes: self.written,
        })
    }

    fn flush(&mut self) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.faults
            .before(Operation::Write, &self.directory)
            .and_then(|()| self.file.write_all_at(bytes, self.written))
            .map_err(|cause| unwritable(&self.directory, cause))?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// An unnamed temporary file to which threads append at the same time, in any order.
pub struct SharedSpool {
    directory: PathBuf,
    file: File,
    end: AtomicU64,
}

impl SharedSpool {
    /// Creates an empty file in `directory`.
    ///
    /// # Errors
    /// Errors of [`Spool::create`].
    pub fn create(directory: &Path) -> Result<SharedSpool> {
        let Spool {
            directory, file, ..
        } = Spool::create(directory)?;
        Ok(SharedSpool {
            directory,
            file,
            end: AtomicU64::new(0),
        })
    }

    /// Appends `bytes`; returns their offset.
    ///
    /// # Errors
    /// Errors of [`Spool::append`].
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|cause| unwritable(&self.directory, cause))?;
        Ok(offset)
    }

    /// Completes the file for reading.
    pub fn finish(self) -> Spooled {
        Spooled {
            directory: self.directory,
            file: self.file,
            bytes: self.end.into_inner(),
        }
    }
}

/// A complete [`Spool`]; threads may read it concurrently.
#[derive(Debug)]
pub struct Spooled {
    directory: PathBuf,
    file: File,
    bytes: u64,
}

impl Spooled {
    /// The length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Replaces the contents of `out` by the `length` bytes at `offset`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file is too short or cannot be read.
    pub fn read_at(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> Result<()> {
        self.check(offset, length)?;
        out.resize(length, 0);
        self.fill_at(offset, out)
    }

    /// Fills `out` with the bytes at `offset`.
    ///
    /// # Errors
    /// Errors of [`read_at`](Self::read_at).
    pub fn fill_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.check(offset, out.len())?;
        self.file.read_exact_at(out, offset).map_err(|cause| {
            Error::new(ErrorKind::Read, "cannot read back a temporary file")
                .in_file(&self.directory)
                .caused_by(cause)
        })
    }

    /// A length is untrusted until it is known to be within the file.
    /// The file as records of one type.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it ends within a record.
    pub fn into_records<T: Pod>(self) -> Result<RecordFile<T>> {
        let size = size_of::<T>() as u64;
        if !self.bytes.is_multiple_of(size) {
            let message = format!("{} bytes are not a multiple of {size}", self.bytes);
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.directory));
        }
        let runs = [(self.bytes / size, 0)];
        Ok(RecordFile::of_runs(
            Arc::new(self.file),
            &self.directory,
            runs,
        ))
    }

    fn check(&self, offset: u64, length: usize) -> Result<()> {
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > self.bytes) {
            let message = format!(
                "a temporary file of {} bytes has no {length} bytes at {offset}",
                self.bytes
            );
            return Err(Error::new(ErrorKind::Read, message).in_file(&self.directory));
        }
        Ok(())
    }
}

fn unwritable(directory: &Path, cause: std::io::Error) -> Error {
    write_error(directory, "cannot hold a temporary file", cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_is_appended_is_read_back(
            pieces in prop::collection::vec((any::<u8>(), 0_usize..400_000), 0..12),
            long in any::<bool>(),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let factor = if long { 7 } else { 1 };
            let mut spool = Spool::create(directory.path()).unwrap();
            let append = |&(byte, length): &(u8, usize)| {
                let bytes = vec![byte; length * factor];
                (spool.append(&bytes).unwrap(), bytes)
            };
            let expected: Vec<(u64, Vec<u8>)> = pieces.iter().map(append).collect();
            let spooled = spool.finish().unwrap();
            let mut found = Vec::new();
            for (offset, bytes) in expected.iter().rev() {
                spooled.read_at(*offset, bytes.len(), &mut found).unwrap();
                prop_assert!(found == *bytes);
            }
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn places_beyond_the_end_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(directory.path()).unwrap();
        spool.append(b"ten bytes.").unwrap();
        let spooled = spool.finish().unwrap();
        assert_eq!(spooled.bytes(), 10);
        let mut out = vec![1, 2, 3];
        spooled.read_at(4, 6, &mut out).unwrap();
        assert_eq!(out, b"bytes.");
        for (offset, length) in [(0, 11), (11, 0), (10, 1), (u64::MAX, 1), (0, usize::MAX)] {
            let error = spooled.read_at(offset, length, &mut out).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Read);
            let message = error.to_string();
            assert!(message.contains("10 bytes has no"), "{message}");
        }
        spooled.file.set_len(5).unwrap();
        let error = spooled.read_at(0, 10, &mut out).unwrap_err();
        assert_eq!(error.file(), Some(directory.path()));
    }

    #[test]
    fn missing_directory_is_an_error() {
        let error = Spool::create(Path::new("/nonexistent/place"))
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Write);
        assert!(error.to_string().contains("does not exist"), "{error}");
    }
}
