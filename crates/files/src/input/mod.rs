//! Named inputs as byte slices.

pub mod append;
pub(super) mod input_file;
pub mod input_files;
pub mod remote;
pub(super) mod stream;

use super::{read_error, write_error};
use crate::system::guard::{self, Registration};
use crate::{Error, ErrorKind, Result};
use memmap2::{Advice, Mmap, MmapOptions};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes per step when copying a stream.
const STEP_BYTES: usize = 1 << 20;

/// The bytes of one named input: mapped if the [`guard`] is installed, else in memory.
///
/// The bytes are those of the file only if [`verify`](Input::verify) succeeds after their last use.
/// Each input from a file keeps it open. At most [`guard::SLOTS`] inputs can be mapped at a time.
pub struct Input {
    name: PathBuf,
    bytes: InputBytes,
    source: Option<OpenedFile>,
}

enum InputBytes {
    Owned(Vec<u8>),
    /// The registration is declared first because it must be dropped first.
    Mapped(Registration, Mmap),
}

/// The open file of an input, and its metadata when it was opened.
struct OpenedFile {
    file: File,
    opened: Metadata,
}

impl Input {
    /// Opens the local file `path`.
    ///
    /// A regular file is mapped, or read into memory if the [`guard`] is not installed. Mapped
    /// memory is page cache, which the system reclaims when needed. Anything else is
    /// [spooled](Input::spool) into `spool_directory`: a FIFO, a terminal, a
    /// process substitution,
    /// or a file in `/proc` with bytes but no size. The directory is not used otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file is missing, a directory, or unreadable, or if too many files
    /// are mapped; [`ErrorKind::Changed`] if it changed while it was read into memory;
    /// [`ErrorKind::Memory`] if it does not fit in memory; those of [`Input::spool`] for a stream, and of [`remote::refuse_input`].
    pub fn open(path: &Path, spool_directory: &Path) -> Result<Input> {
        remote::refuse_input(path)?;
        let file = File::open(path).map_err(|cause| read_error(path, cause))?;
        let opened = file.metadata().map_err(|cause| read_error(path, cause))?;
        if opened.is_dir() {
            let message = "is a directory: name the files in it";
            return Err(Error::new(ErrorKind::Read, message).in_file(path));
        }
        if !opened.is_file() || is_sizeless_stream(path, &file, &opened)? {
            return Input::spool(path, file, spool_directory);
        }
        let bytes = if guard::is_installed() && opened.len() > 0 {
            map(path, &file, opened.len())?
        } else {
            InputBytes::Owned(read(path, &file, opened.len())?)
        };
        let source = Some(OpenedFile { file, opened });
        Ok(Input {
            name: path.to_owned(),
            bytes,
            source,
        })
    }

    /// Reads `reader` to its end, for example standard input, as an input called `name`.
    ///
    /// The stream is copied into an unnamed temporary file in `directory`, which is mapped. This
    /// takes 1 MiB of memory, and the file disappears with the input, even if the process is
    /// killed. If the [`guard`] is not installed, the stream is collected in memory instead.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if `reader` fails, [`ErrorKind::Write`] naming `directory` if the copy
    /// cannot be written.
    pub fn spool(name: impl AsRef<Path>, mut reader: impl Read, directory: &Path) -> Result<Input> {
        let name = name.as_ref();
        if !guard::is_installed() {
            let mut bytes = Vec::new();
            reader
                .read_to_end(&mut bytes)
                .map_err(|cause| read_error(name, cause))?;
            return Ok(Input::from_bytes(name, bytes));
        }
        let task = format!("cannot hold a temporary copy of {}", name.display());
        let unwritable = |cause| write_error(directory, &task, cause);
        let mut file = tempfile::tempfile_in(directory).map_err(unwritable)?;
        let mut step = vec![0; STEP_BYTES];
        loop {
            match reader.read(&mut step) {
                Ok(0) => break,
                Ok(filled) => file.write_all(&step[..filled]).map_err(unwritable)?,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(read_error(name, cause)),
            }
        }
        let opened = file.metadata().map_err(unwritable)?;
        let bytes = match opened.len() {
            0 => InputBytes::Owned(Vec::new()),
            size => map(name, &file, size)?,
        };
        Ok(Input {
            name: name.to_owned(),
            bytes,
            source: Some(OpenedFile { file, opened }),
        })
    }

    /// An input called `name` that holds `bytes`; its [`verify`](Input::verify) always succeeds.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Input {
        Input {
            name: name.as_ref().to_owned(),
            bytes: InputBytes::Owned(bytes),
            source: None,
        }
    }

    /// The bytes. If the file is truncated meanwhile, the missing ones become zeros.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            InputBytes::Owned(bytes) => bytes,
            InputBytes::Mapped(_, map) => map,
        }
    }

    /// The name under which the input was opened, for messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Checks, after the last use of [`bytes`](Input::bytes), that the file did not change.
    ///
    /// Size and modification time must be those at opening. The change time of the inode, which
    /// reveals a reset modification time, must be unchanged too, unless a changed link count,
    /// permission or owner explains it: a file may be unlinked, replaced or linked while it is
    /// read. A modification that keeps the size is missed if it happens in the same tick of the
    /// file system's clock as the opening.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] with both sizes if the file was modified or truncated;
    /// [`ErrorKind::Read`] if it is unchanged but a part of it could not be read.
    pub fn verify(&self) -> Result<()> {
        let Some(OpenedFile { file, opened }) = &self.source else {
            return Ok(());
        };
        let found = file
            .metadata()
            .map_err(|cause| read_error(&self.name, cause))?;
        if is_modified(opened, &found) {
            return Err(changed(&self.name, opened, &found));
        }
        match &self.bytes {
            InputBytes::Mapped(registration, map) => match registration.fault() {
                Some(offset) => Err(unreadable(&self.name, offset, map.len())),
                None => Ok(()),
            },
            InputBytes::Owned(_) => Ok(()),
        }
    }
}

/// Whether `file` has bytes but no size, like files in `/proc` that the kernel generates on
/// reading. Such a file is treated as a stream.
///
/// # Errors
/// [`ErrorKind::Read`] if it cannot be read.
pub fn is_sizeless_stream(name: &Path, mut file: &File, opened: &Metadata) -> Result<bool> {
    if opened.len() > 0 {
        return Ok(false);
    }
    // The first byte will be read again, since such a file can be rewound.
    let unreadable = |cause| read_error(name, cause);
    let has_bytes = file.read(&mut [0]).map_err(unreadable)? > 0;
    file.rewind().map_err(unreadable)?;
    // A regular file that was empty before may have a size now.
    Ok(has_bytes && file.metadata().map_err(unreadable)?.len() == 0)
}

fn map(name: &Path, file: &File, size: u64) -> Result<InputBytes> {
    let unmappable = |cause| {
        let message = "cannot be mapped into memory (pass it through a pipe instead)";
        Error::new(ErrorKind::Read, message)
            .in_file(name)
            .caused_by(cause)
    };
    let length = usize::try_from(size).map_err(|cause| unmappable(io::Error::other(cause)))?;
    // SAFETY: the mapping is private to this module and read-only. If the file shrinks, the guard
    // maps zeros in its place; if it changes, `verify` fails. Its bytes are untrusted in either
    // case.
    let map = unsafe { MmapOptions::new().len(length).map(file) }.map_err(unmappable)?;
    // Only a hint: larger read-ahead, and pages already read are reclaimed first.
    let _ = map.advise(Advice::Sequential);
    match Registration::protect(&map) {
        Some(registration) => Ok(InputBytes::Mapped(registration, map)),
        None => {
            let most = guard::SLOTS;
            let message = format!("one input too many: at most {most} can be open at a time");
            Err(Error::new(ErrorKind::Read, message).in_file(name))
        }
    }
}

fn read(name: &Path, mut file: &File, size: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length).map_err(|_| {
        let message = format!("does not fit in memory: {size} bytes");
        Error::new(ErrorKind::Memory, message).in_file(name)
    })?;
    file.read_to_end(&mut bytes)
        .map_err(|cause| read_error(name, cause))?;
    if size > 0 && bytes.len() != length {
        let found = bytes.len();
        let message = format!("changed while it was read: expected {size} bytes, found {found}");
        return Err(Error::new(ErrorKind::Changed, message).in_file(name));
    }
    Ok(bytes)
}

fn is_modified(opened: &Metadata, found: &Metadata) -> bool {
    let content = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
    let inode = |file: &Metadata| (file.ctime(), file.ctime_nsec());
    let attributes = |file: &Metadata| (file.nlink(), file.mode(), file.uid(), file.gid());
    content(opened) != content(found)
        || (inode(opened) != inode(found) && attributes(opened) == attributes(found))
}

fn changed(name: &Path, opened: &Metadata, found: &Metadata) -> Error {
    let describe = |file: &Metadata| {
        let (size, seconds, nanoseconds) = (file.len(), file.mtime(), file.mtime_nsec());
        format!("{size} bytes modified at {seconds}.{nanoseconds:09}")
    };
    let message = format!(
        "changed while it was being read: expected {}, found {} (run again when it is complete)",
        describe(opened),
        describe(found),
    );
    Error::new(ErrorKind::Changed, message).in_file(name)
}

fn unreadable(name: &Path, offset: usize, size: usize) -> Error {
    let message = format!("cannot be read from byte {offset} of {size} on (check its device)");
    Error::new(ErrorKind::Read, message).in_file(name)
}
