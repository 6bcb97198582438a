//! A file of the work directory that grows in place.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::errors::error;
use crate::Result;
use simtool_files::{Faults, Operation};

/// A file that is only appended to. What was appended is durable.
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
        let opened = OpenOptions::new().append(true).open(path);
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
        self.faults
            .before(Operation::Write, &self.path)
            .and_then(|()| self.file.write_all(bytes))
            .and_then(|()| self.faults.before(Operation::Sync, &self.path))
            .and_then(|()| self.file.sync_data())
            .map_err(|cause| error(&self.path, cause))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}
