//! The file of a table, as the decoder reads it.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::Result;
use crate::io::{InputFile, read_error};

/// An open file or object; copies share it.
#[derive(Clone)]
pub(super) struct TableFile {
    file: Arc<InputFile>,
    bytes: u64,
}

impl TableFile {
    /// Opens the table at `path`.
    pub(super) fn open(path: &Path) -> Result<TableFile> {
        let file = InputFile::open(path)?;
        let bytes = file.bytes().map_err(|cause| read_error(path, cause))?;
        let file = Arc::new(file);
        Ok(TableFile { file, bytes })
    }

    /// The open file.
    pub(super) fn input(&self) -> &InputFile {
        &self.file
    }

    /// Its size.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The failure of a server, which the decoder reports as damage.
    ///
    /// # Errors
    /// That failure.
    pub(super) fn check(&self) -> Result<()> {
        self.file.check()
    }
}

impl fmt::Debug for TableFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a table of {} bytes", self.bytes)
    }
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<TableReader>;

    fn get_read(&self, start: u64) -> ParquetResult<BufReader<TableReader>> {
        let file = Arc::clone(&self.file);
        Ok(BufReader::new(TableReader {
            file,
            offset: start,
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        // A claim of a damaged file must not be allocated.
        if start.saturating_add(length as u64) > self.bytes {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// Reads a table from an offset on.
pub(super) struct TableReader {
    file: Arc<InputFile>,
    offset: u64,
}

impl Read for TableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
