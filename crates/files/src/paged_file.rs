//! Random-access file for the storage backend of redb.

use super::faults::{Faults, Operation};
use super::regular::{open_regular, read_regular};
use super::system::allocation::allocate;
use super::{read_error, write_error};
use crate::Result;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// An open file with positioned reads and writes, and fault injection.
#[derive(Debug)]
pub struct PagedFile {
    path: PathBuf,
    file: File,
    faults: Faults,
}

impl PagedFile {
    /// Opens `path` for reading and writing; creates it if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be opened.
    pub fn open(path: &Path, faults: &Faults) -> Result<PagedFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = faults
            .before(Operation::Create, path)
            .and_then(|()| open_regular(path, &mut options))
            .map_err(|cause| write_error(path, "cannot be opened for writing", cause))?;
        Ok(PagedFile {
            path: path.to_owned(),
            file,
            faults: faults.clone(),
        })
    }

    /// Reads the whole regular file `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if it cannot be read.
    pub fn read_all(path: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        read_regular(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|cause| read_error(path, cause))?;
        Ok(bytes)
    }

    /// The length of the file in bytes.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Fills `out` with the bytes at offset `place`.
    ///
    /// # Errors
    /// Errors of the system, including one if the file is too short.
    pub fn read(&self, place: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, place)
    }

    /// Writes `bytes` at offset `place`.
    ///
    /// # Errors
    /// Errors of the system, and injected ones.
    pub fn write(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.faults.before(Operation::Write, &self.path)?;
        self.file.write_all_at(bytes, place)
    }

    /// Sets the length of the file to `bytes`. If it grows, its blocks are allocated, so that a
    /// full disk is an error here and not in the middle of a commit.
    ///
    /// # Errors
    /// Errors of the system, and injected ones.
    pub fn resize(&self, bytes: u64) -> io::Result<()> {
        self.faults.before(Operation::Resize, &self.path)?;
        let before = self.bytes()?;
        if bytes > before && allocate(&self.file, bytes)? {
            return Ok(());
        }
        // It becomes shorter, or the file system cannot allocate: it grows without blocks.
        self.file.set_len(bytes)
    }

    /// Makes the written bytes durable.
    ///
    /// # Errors
    /// Errors of the system, injected ones, and one if the file was removed or replaced, so that its
    /// data would be lost with this process.
    pub fn sync(&self) -> io::Result<()> {
        self.faults.before(Operation::Sync, &self.path)?;
        self.file.sync_data()?;
        match self.file.metadata()?.nlink() {
            0 => Err(io::Error::other(
                "the file was removed or replaced while it was open (restore the index from a copy)",
            )),
            _ => Ok(()),
        }
    }
}
