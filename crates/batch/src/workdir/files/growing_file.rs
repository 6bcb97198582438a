//! A file of the work directory that grows in place.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::errors::error;
use crate::Result;
use simtool_files::{Faults, Operation};

/// A file that grows at its end.
pub struct GrowingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    faults: Faults,
}

impl GrowingFile {
    /// Opens the file `path`, which exists, and cuts it to `bytes`, its sound beginning.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn open(path: &Path, bytes: u64, faults: &Faults) -> Result<GrowingFile> {
        let opened = OpenOptions::new().write(true).open(path);
        let opened = opened.and_then(|file| {
            if file.metadata()?.len() != bytes {
                file.set_len(bytes)?;
            }
            file.sync_all()?;
            Ok(file)
        });
        Ok(GrowingFile {
            path: path.to_owned(),
            file: opened.map_err(|cause| error(path, cause))?,
            bytes,
            faults: faults.clone(),
        })
    }

    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends `bytes` and makes them durable.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_at(&[bytes], self.bytes)?;
        self.sync()?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Writes `parts`, one after another, from the offset `begin`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn write_at(&self, parts: &[&[u8]], mut begin: u64) -> Result<()> {
        let mut write = || {
            self.faults.before(Operation::Write, &self.path)?;
            for part in parts {
                self.file.write_all_at(part, begin)?;
                begin += part.len() as u64;
            }
            Ok(())
        };
        write().map_err(|cause| error(&self.path, cause))
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn sync(&self) -> Result<()> {
        let synced = self.faults.before(Operation::Sync, &self.path);
        synced
            .and_then(|()| self.file.sync_data())
            .map_err(|cause| error(&self.path, cause))
    }
}
