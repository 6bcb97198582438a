//! Buffered reads of a file in large blocks.

use crate::{Error, ErrorKind, Result};
use simtool_files::{InputFile, InputPath, InputReader, read_error};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A reader of a file in large blocks, from any offset.
pub(crate) struct Blocks {
    path: PathBuf,
    file: Arc<InputFile>,
    reader: InputReader,
    size: u64,
    /// The offset in the file of the end of the buffer.
    next: u64,
    buffer: Vec<u8>,
    /// The number of bytes of the buffer already consumed.
    used: usize,
    block_bytes: usize,
}

impl Blocks {
    /// Opens a file, which must have `size` bytes.
    pub(super) fn open<'a>(
        path: impl Into<InputPath<'a>>,
        size: u64,
        block_bytes: usize,
    ) -> Result<Blocks> {
        let path = path.into();
        let file = InputFile::open_regular(path)?;
        Blocks::of(file, &path, size, block_bytes)
    }

    /// Uses the open `file` at `path`, which must have `size` bytes.
    pub(crate) fn of(
        file: InputFile,
        path: &Path,
        size: u64,
        block_bytes: usize,
    ) -> Result<Blocks> {
        let found = file.bytes().map_err(|cause| read_error(path, cause))?;
        if found != size {
            return Err(changed(path, size, found));
        }
        Ok(Blocks {
            path: path.to_owned(),
            reader: file.reader(),
            file: Arc::new(file),
            size,
            next: 0,
            buffer: Vec::new(),
            used: 0,
            block_bytes,
        })
    }

    /// The same file from its start, read in blocks of another size.
    pub(super) fn with_block_size(&self, block_bytes: usize) -> Blocks {
        Blocks {
            path: self.path.clone(),
            reader: self.file.reader(),
            file: Arc::clone(&self.file),
            size: self.size,
            next: 0,
            buffer: Vec::new(),
            used: 0,
            block_bytes,
        }
    }

    /// Whether it is on a server.
    pub(super) fn is_remote(&self) -> bool {
        self.reader.is_remote()
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the file.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The number of bytes of its buffer.
    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The offset in the file of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.next - (self.buffer.len() - self.used) as u64
    }

    /// Continues at `offset`.
    pub(super) fn seek(&mut self, offset: u64) {
        let start = self.next - self.buffer.len() as u64;
        match offset.checked_sub(start) {
            Some(used) if used <= self.buffer.len() as u64 => self.used = used as usize,
            _ => {
                self.next = offset;
                self.buffer.clear();
                self.used = 0;
            }
        }
    }

    /// The next bytes, without consuming them: at least `least`, or all that are left.
    pub(super) fn peek(&mut self, least: usize) -> Result<&[u8]> {
        if self.buffer.len() - self.used < least {
            self.buffer.drain(..self.used);
            self.used = 0;
            let mut buffer = std::mem::take(&mut self.buffer);
            while buffer.len() < least && self.read(self.block_bytes, &mut buffer)? > 0 {}
            self.buffer = buffer;
        }
        Ok(&self.buffer[self.used..])
    }

    /// Consumes `length` bytes of those that [`peek`](Self::peek) returned.
    pub(super) fn consume(&mut self, length: usize) {
        self.used = (self.used + length).min(self.buffer.len());
    }

    /// Appends `want` bytes from after the buffer; fewer only at the end of the file.
    pub(super) fn read(&mut self, want: usize, out: &mut Vec<u8>) -> Result<usize> {
        let left = self.size.saturating_sub(self.next);
        let want = want.min(usize::try_from(left).unwrap_or(usize::MAX));
        let end = out.len() + want;
        while out.len() < end {
            match self.reader.append_at(self.next, end - out.len(), out) {
                Ok(0) => return Err(changed(&self.path, self.size, self.next)),
                Ok(read) => self.next += read as u64,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(read_error(&self.path, cause)),
            }
        }
        Ok(want)
    }
}

/// The error of a file with `found` bytes instead of `expected`.
pub(crate) fn changed(path: &Path, expected: u64, found: u64) -> Error {
    let message = format!(
        "changed while it was being read: expected {expected} bytes, found {found} (run again \
         when it is complete)"
    );
    Error::new(ErrorKind::Changed, message).in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bytes_come_from_any_offset_in_any_steps() {
        let content: Vec<u8> = (0..1000u32).map(|byte| byte as u8).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        for block_bytes in [1, 7, 64, 4096] {
            let mut blocks = Blocks::open(file.path(), 1000, block_bytes).unwrap();
            for offset in [0, 990, 3, 4, 1000, 500] {
                blocks.seek(offset as u64);
                let length = 12.min(1000 - offset);
                assert_eq!(
                    blocks.peek(12).unwrap()[..length],
                    content[offset..][..length]
                );
                blocks.consume(2.min(length));
                assert_eq!(blocks.offset() as usize, offset + 2.min(length));
            }
            for offset in [0, 990, 3, 1000] {
                let mut blocks = Blocks::open(file.path(), 1000, block_bytes).unwrap();
                blocks.seek(offset as u64);
                let mut out = Vec::new();
                while blocks.read(5, &mut out).unwrap() > 0 {}
                assert_eq!(out, content[offset..]);
                assert_eq!(blocks.offset(), 1000);
            }
        }
    }

    /// Promise (Failing inputs): A FIFO that takes the place of an input during a run is an error,
    /// and not waited for
    #[test]
    fn a_file_that_shrinks_or_grows_is_an_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"12345").unwrap();
        let kind = |size| {
            Blocks::open(file.path(), size, 2)
                .err()
                .map(|error| error.kind())
        };
        assert_eq!(kind(4), Some(ErrorKind::Changed));
        // A FIFO that took its place is not waited for.
        let fifo = file.path().with_extension("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let error = Blocks::open(&fifo, 5, 2).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Changed);
        std::fs::remove_file(fifo).unwrap();
        let mut blocks = Blocks::open(file.path(), 5, 2).unwrap();
        blocks.peek(2).unwrap();
        file.as_file().set_len(3).unwrap();
        let mut out = Vec::new();
        let error = loop {
            match blocks.read(2, &mut out) {
                Ok(read) => assert!(read > 0),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Changed);
    }
}
