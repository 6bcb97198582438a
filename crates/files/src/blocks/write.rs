//! Writing of files of blocks.

use super::header::{BLOCK_BYTES, Header, checksum};
use crate::faults::{Faults, Operation};
use crate::write_error;
use crate::{Error, Result};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The number of bytes written at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// A file of blocks in progress; it gets its name when it is complete.
///
/// Memory: 1 MiB, and 8 bytes for each block of 4096.
pub struct BlockWriter {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    faults: Faults,
    kind: u32,
    /// The bytes not written yet; starts at a block.
    buffer: Vec<u8>,
    written: u64,
    checksums: Vec<u64>,
    section_at: u64,
    sections: Vec<(u64, u64)>,
    published: bool,
}

impl BlockWriter {
    /// Starts the file `path` with contents of kind `kind`, under the temporary name `path` +
    /// `.part`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be created.
    pub fn create(path: &Path, kind: u32, faults: &Faults) -> Result<BlockWriter> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".part");
        let temporary = PathBuf::from(temporary);
        let file = faults
            .before(Operation::Create, &temporary)
            .and_then(|()| File::create(&temporary))
            .map_err(|cause| write_error(path, "cannot be created", cause))?;
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        // A placeholder until the header is known.
        buffer.resize(BLOCK_BYTES, 0);
        Ok(BlockWriter {
            path: path.to_owned(),
            temporary,
            file,
            faults: faults.clone(),
            kind,
            buffer,
            written: 0,
            checksums: Vec::new(),
            section_at: BLOCK_BYTES as u64,
            sections: Vec::new(),
            published: false,
        })
    }

    /// Appends `bytes` to the current section.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if they cannot be written.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let taken = bytes.len().min(BUFFER_BYTES - self.buffer.len());
            self.buffer.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.buffer.len() == BUFFER_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// The length of the current section in bytes.
    pub fn section_bytes(&self) -> u64 {
        self.written + self.buffer.len() as u64 - self.section_at
    }

    /// Ends the current section; further bytes belong to the next one.
    ///
    /// # Errors
    /// Errors of [`append`](Self::append).
    pub fn end_section(&mut self) -> Result<()> {
        let length = self.section_bytes();
        self.sections.push((self.section_at, length));
        let filled = self.buffer.len().next_multiple_of(BLOCK_BYTES);
        self.buffer.resize(filled, 0);
        self.section_at = self.written + filled as u64;
        if self.buffer.len() == BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Completes the file, makes it durable, gives it its name, and returns its identity.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if any of that fails.
    ///
    /// # Panics
    /// If `attributes` do not fit the header.
    pub fn finish(mut self, attributes: &[u8]) -> Result<u64> {
        self.flush()?;
        // The header is covered by the identity, not by a checksum.
        self.checksums[0] = 0;
        let checksums: Vec<u8> = self
            .checksums
            .iter()
            .flat_map(|sum| sum.to_le_bytes())
            .collect();
        self.write_at(&checksums, self.written)?;
        let header = Header {
            kind: self.kind,
            bytes: self.written + checksums.len() as u64,
            checksums: xxh3_64(&checksums),
            sections: std::mem::take(&mut self.sections),
            attributes: attributes.to_vec(),
        };
        let (block, identity) = header.encode();
        self.write_at(&block, 0)?;
        self.publish().map_err(|cause| self.error(cause))?;
        Ok(identity)
    }

    fn publish(&mut self) -> io::Result<()> {
        self.faults.before(Operation::Sync, &self.temporary)?;
        self.file.sync_all()?;
        self.faults.before(Operation::Rename, &self.path)?;
        fs::rename(&self.temporary, &self.path)?;
        self.published = true;
        let directory = self.path.parent().unwrap_or(Path::new("."));
        self.faults.before(Operation::Sync, directory)?;
        File::open(directory)?.sync_all()
    }

    fn flush(&mut self) -> Result<()> {
        let first = self.written / BLOCK_BYTES as u64;
        let blocks = self.buffer.chunks(BLOCK_BYTES).zip(first..);
        self.checksums
            .extend(blocks.map(|(block, number)| checksum(block, number)));
        let buffer = std::mem::take(&mut self.buffer);
        self.write_at(&buffer, self.written)?;
        self.written += buffer.len() as u64;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], place: u64) -> Result<()> {
        self.faults
            .before(Operation::Write, &self.temporary)
            .and_then(|()| self.file.write_all_at(bytes, place))
            .map_err(|cause| self.error(cause))
    }

    fn error(&self, cause: io::Error) -> Error {
        write_error(&self.path, "cannot be written", cause)
    }
}

/// Removes the temporary file unless it was published.
impl Drop for BlockWriter {
    fn drop(&mut self) {
        if !self.published {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
