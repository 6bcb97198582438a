//! The file of a table, as the decoder reads it.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::decompress::changed;
use crate::{Error, ErrorKind, Result};
use simtool_files::{InputFile, InputPath, read_error};

/// An open file or object; copies share it.
///
/// The decoder reports every failed read as damage. So the first one is recorded, for
/// [`check`](TableFile::check).
#[derive(Clone)]
pub(super) struct TableFile {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    file: InputFile,
    bytes: u64,
    /// The class and the message of the first failed read.
    failure: Mutex<Option<(ErrorKind, String)>>,
}

impl TableFile {
    /// Opens the table at `path`.
    pub(super) fn open<'a>(path: impl Into<InputPath<'a>>) -> Result<TableFile> {
        let path = path.into();
        let file = InputFile::open_regular(path)?;
        let bytes = file.bytes().map_err(|cause| read_error(&path, cause))?;
        let shared = Arc::new(Shared {
            path: path.to_path_buf(),
            file,
            bytes,
            failure: Mutex::new(None),
        });
        Ok(TableFile { shared })
    }

    /// Its size.
    pub(super) fn bytes(&self) -> u64 {
        self.shared.bytes
    }

    /// Reads some bytes at `offset`; 0 only at the end.
    ///
    /// # Errors
    /// Errors of the system or of the server; [`io::ErrorKind::UnexpectedEof`] if the file shrank.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Shared {
            path, file, bytes, ..
        } = &*self.shared;
        match file.read_at(buffer, offset) {
            Ok(0) if offset < *bytes && !buffer.is_empty() => {
                self.record(&changed(path, *bytes, offset));
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Err(cause) if cause.kind() != io::ErrorKind::Interrupted => {
                let (kind, shown) = (cause.kind(), cause.to_string());
                self.record(&read_error(path, cause));
                Err(io::Error::new(kind, shown))
            }
            read => read,
        }
    }

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// Errors of the system or of the server; [`io::ErrorKind::UnexpectedEof`] at the end.
    pub(super) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.clone();
        TableReader { file, offset }.read_exact(buffer)
    }

    fn record(&self, error: &Error) {
        let failure = &self.shared.failure;
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| (error.kind(), error.to_string()));
    }

    /// Checks that no read failed so far. What a failed read left out seems to be damage.
    ///
    /// # Errors
    /// The first failure: [`ErrorKind::Read`], [`ErrorKind::Changed`] if the file shrank, or that of
    /// a server.
    pub(super) fn check(&self) -> Result<()> {
        let failure = &self.shared.failure;
        match &*failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((kind, message)) => Err(Error::new(*kind, message.as_str())),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TableFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a table of {} bytes", self.bytes())
    }
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.bytes()
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<TableReader>;

    fn get_read(&self, start: u64) -> ParquetResult<BufReader<TableReader>> {
        Ok(BufReader::new(TableReader {
            file: self.clone(),
            offset: start,
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // A claim of a damaged file must not be allocated.
        if start.saturating_add(length as u64) > self.bytes() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// Reads a table from an offset on.
pub(super) struct TableReader {
    file: TableFile,
    offset: u64,
}

impl Read for TableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn failed_reads_are_recorded() {
        // No memory is mapped at its start, so the system cannot read there.
        let table = TableFile::open(Path::new("/proc/self/mem")).unwrap();
        assert!(table.check().is_ok());
        assert!(table.get_read(0).unwrap().read(&mut [0]).is_err());
        let error = table.clone().check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read);
        let message = error.to_string();
        assert!(
            message.contains("/proc/self/mem: cannot be read"),
            "{message}"
        );
        assert!(message.contains("(os error 5)"), "{message}");
    }

    #[test]
    fn a_file_that_shrinks_changed_and_a_wrong_claim_is_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        std::fs::write(&path, [0; 100]).unwrap();
        let table = TableFile::open(&path).unwrap();
        assert!(table.get_bytes(50, 51).is_err());
        assert!(table.read_exact_at(&mut [0; 51], 50).is_err());
        assert!(table.check().is_ok());
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(60).unwrap();
        assert!(table.get_bytes(50, 50).is_err());
        assert_eq!(table.check().unwrap_err().kind(), ErrorKind::Changed);
    }
}
