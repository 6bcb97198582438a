//! An open input: a file, or an object of a server.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool_objects::Object;
#[cfg(feature = "cloud")]
use simtool_objects::{Cached, Prefetch};

use crate::{Error, ErrorKind, Result};
use crate::{append_at, read_error, read_regular};

/// What an input is opened by: its path, and the object if it is on a server.
#[derive(Clone, Copy, Debug)]
pub struct InputPath<'a> {
    /// The path of a file, or the name of the object.
    pub path: &'a Path,
    /// The object.
    pub object: Option<&'a Arc<Object>>,
}

impl<'a> From<&'a Path> for InputPath<'a> {
    fn from(path: &'a Path) -> InputPath<'a> {
        InputPath { path, object: None }
    }
}

impl<'a> From<&'a PathBuf> for InputPath<'a> {
    fn from(path: &'a PathBuf) -> InputPath<'a> {
        path.as_path().into()
    }
}

impl AsRef<Path> for InputPath<'_> {
    fn as_ref(&self) -> &Path {
        self.path
    }
}

impl Deref for InputPath<'_> {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.path
    }
}

/// An open input, for reads at any offset.
///
/// Errors of objects have their message and class within; [`Error::unreadable`](crate::Error) takes
/// them out again.
pub enum InputFile {
    /// A file.
    Local(Arc<File>),
    /// An object of a server.
    #[cfg(feature = "cloud")]
    Remote(RemoteFile),
}

/// An object of a server.
#[cfg(feature = "cloud")]
pub struct RemoteFile {
    cached: Cached,
    prefix: Option<bytes::Bytes>,
}

/// Reads an input from any offset on, mostly forwards.
pub enum InputReader {
    /// A file.
    Local(Arc<File>),
    /// An object, with ranges read ahead.
    #[cfg(feature = "cloud")]
    Remote(Box<Prefetch>),
}

/// Reads an input from its start to its end.
pub struct SequentialReader {
    reader: InputReader,
    offset: u64,
    buffer: Vec<u8>,
}

impl SequentialReader {
    /// A reader from the start.
    pub fn new(reader: InputReader) -> SequentialReader {
        SequentialReader {
            reader,
            offset: 0,
            buffer: Vec::new(),
        }
    }
}

impl Read for SequentialReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.buffer.clear();
        let wanted = buffer.len();
        let read = self
            .reader
            .append_at(self.offset, wanted, &mut self.buffer)?;
        buffer[..read].copy_from_slice(&self.buffer);
        self.offset += read as u64;
        Ok(read)
    }
}

impl InputFile {
    /// Opens a file or an object, with the first bytes of the object if they were requested.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if it cannot be opened.
    pub fn open<'a>(path: impl Into<InputPath<'a>>) -> Result<InputFile> {
        let input = path.into();
        #[cfg(feature = "cloud")]
        if let Some(object) = input.object {
            return Ok(InputFile::Remote(RemoteFile {
                prefix: object.take_first()?,
                cached: Cached::new(Arc::clone(object)),
            }));
        }
        let file = File::open(input).map_err(|cause| read_error(&input, cause))?;
        Ok(file.into())
    }

    /// Opens a regular file or an object. Never waits, as for the other end of a FIFO that took the place
    /// of an input.
    ///
    /// # Errors
    /// As [`open`](InputFile::open); [`ErrorKind::Changed`](crate::ErrorKind::Changed) for what is no
    /// regular file.
    pub fn open_regular<'a>(path: impl Into<InputPath<'a>>) -> Result<InputFile> {
        let input = path.into();
        if input.object.is_some() {
            return InputFile::open(input);
        }
        let file = read_regular(&input).map_err(|cause| match cause.kind() {
            io::ErrorKind::InvalidInput => {
                let message = "changed while it was being read: it is no regular file any more";
                Error::new(ErrorKind::Changed, message).in_file(input)
            }
            io::ErrorKind::NotFound => {
                let message = "was removed or renamed after the run had found it";
                Error::new(ErrorKind::Read, message).in_file(input)
            }
            _ => read_error(&input, cause),
        })?;
        Ok(file.into())
    }

    /// Its size.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn bytes(&self) -> io::Result<u64> {
        match self {
            InputFile::Local(file) => Ok(file.metadata()?.len()),
            #[cfg(feature = "cloud")]
            InputFile::Remote(file) => Ok(file.cached.object().bytes()),
        }
    }

    /// The metadata of a file; `None` for an object.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn metadata(&self) -> io::Result<Option<Metadata>> {
        match self {
            InputFile::Local(file) => file.metadata().map(Some),
            #[cfg(feature = "cloud")]
            InputFile::Remote(_) => Ok(None),
        }
    }

    /// The object; `None` for a file.
    pub fn object(&self) -> Option<&Arc<Object>> {
        match self {
            InputFile::Local(_) => None,
            #[cfg(feature = "cloud")]
            InputFile::Remote(file) => Some(file.cached.object()),
        }
    }

    /// Reads some bytes at `offset`; 0 only at the end.
    ///
    /// # Errors
    /// Errors of the system or of the server.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            InputFile::Local(file) => file.read_at(buffer, offset),
            #[cfg(feature = "cloud")]
            InputFile::Remote(file) => file.read_at(buffer, offset),
        }
    }

    /// A reader from the start.
    pub fn reader(&self) -> InputReader {
        match self {
            InputFile::Local(file) => InputReader::Local(Arc::clone(file)),
            #[cfg(feature = "cloud")]
            InputFile::Remote(file) => {
                let object = Arc::clone(file.cached.object());
                InputReader::Remote(Box::new(Prefetch::new(object, file.prefix.clone())))
            }
        }
    }
}

impl From<File> for InputFile {
    fn from(file: File) -> InputFile {
        InputFile::Local(Arc::new(file))
    }
}

#[cfg(feature = "cloud")]
impl RemoteFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if let Some(prefix) = &self.prefix
            && let Some(rest) = prefix.get(usize::try_from(offset).unwrap_or(usize::MAX)..)
            && !rest.is_empty()
        {
            let length = rest.len().min(buffer.len());
            buffer[..length].copy_from_slice(&rest[..length]);
            return Ok(length);
        }
        let read = self.cached.read_at(buffer, offset);
        read.map_err(crate::Error::into_cause)
    }
}

impl InputReader {
    /// Appends up to `want` bytes from `offset` on; 0 only at the end.
    ///
    /// # Errors
    /// Errors of the system or of the server; `out` is unchanged then.
    pub fn append_at(&mut self, offset: u64, want: usize, out: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            InputReader::Local(file) => append_at(file, offset, want, out),
            #[cfg(feature = "cloud")]
            InputReader::Remote(reader) => {
                let read = reader.read(offset, want, out);
                read.map_err(crate::Error::into_cause)
            }
        }
    }

    /// Whether it reads from a server.
    pub fn is_remote(&self) -> bool {
        !matches!(self, InputReader::Local(_))
    }
}
