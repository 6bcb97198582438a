//! Atomic output files, which replace their target only when complete.

use super::write_error;
use crate::system::unnamed::{self, temporary_prefix};
use crate::system::writeback::Writeback;
use crate::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;
use xxhash_rust::xxh3::Xxh3;

/// The buffer size of an [`AtomicFile`] in bytes.
pub const BUFFER_BYTES: usize = 1 << 20;

/// Blocks of at least this many bytes are written without being copied to the buffer.
const DIRECT_BYTES: usize = 64 << 10;

/// Paths that refer to open descriptors.
const DESCRIPTORS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// A file that is written next to its target and replaces it atomically.
///
/// Until [`publish`](AtomicFile::publish) succeeds, the target is unchanged. Dropping an
/// `AtomicFile` removes what was written.
///
/// The temporary file has no name while it is written, so a process that is killed leaves nothing.
/// It has one, `.NAME.` and six characters, only for a moment while a publication replaces a file,
/// and on file systems that have no unnamed files. With a [`Recorder`], it always has the name that
/// the recorder gives it.
///
/// A target that exists and is not a regular file (`/dev/null`, a FIFO), or is an open descriptor
/// (`/dev/stdout`), cannot be replaced. It is written directly and may have received a part of the
/// output if an error occurs.
///
/// Errors of [`Write`] do not name the file; [`error`](AtomicFile::error) adds it. After an error,
/// every later flush and `publish` fail too.
pub struct AtomicFile {
    path: PathBuf,
    /// `None` while all bytes are in the buffer of a file that is created later.
    open: Option<OpenFile>,
    buffer: Vec<u8>,
    failed: bool,
    recorded: Option<Recorded>,
}

/// The file that bytes are written to.
struct OpenFile {
    file: File,
    bytes: u64,
    writeback: Writeback,
    replaces: Option<Replacement>,
}

/// A file whose bytes are complete and durable, and which has not got its name yet. Dropping it
/// removes it.
pub struct CompleteFile {
    path: PathBuf,
    replacement: Replacement,
    /// The descriptor of a file without a name.
    unnamed: Option<File>,
    /// The file's metadata, which renaming does not change.
    pub found: Metadata,
    /// The xxh3-128 of its bytes; zero without a recorder.
    pub digest: u128,
}

/// Chooses names of temporary files, and records files before they are published.
pub trait Recorder: Send + Sync {
    /// Called before a file that is [created later](AtomicFile::create_later) is created: makes the
    /// directory of `path`.
    ///
    /// # Errors
    /// Errors of making it.
    fn prepare(&self, path: &Path) -> Result<()> {
        let _ = path;
        Ok(())
    }

    /// Returns the path of the temporary file in `directory` for an output that will be published
    /// as `path`. Called before the file is created.
    ///
    /// # Errors
    /// Errors of recording the name.
    fn temporary(&self, path: &Path, directory: &Path) -> Result<PathBuf>;

    /// Called before a complete and durable file gets the name `path`. Renaming changes neither its
    /// metadata `file` nor `digest`, the xxh3-128 of its bytes.
    ///
    /// # Errors
    /// Errors of recording it; `path` is unchanged then.
    fn publishing(&self, path: &Path, file: &Metadata, digest: u128) -> Result<()>;

    /// Called after the file has got the name `path` durably.
    ///
    /// # Errors
    /// Errors that follow from that; the file is not removed.
    fn published(&self, path: &Path) -> Result<()> {
        let _ = path;
        Ok(())
    }
}

struct Replacement {
    temporary: Temporary,
    target: PathBuf,
    directory: PathBuf,
}

enum Temporary {
    /// A file without a name, which disappears with its descriptor unless it gets one.
    Unnamed,
    Named(TempPath),
}

/// The recorder of the file, and the digest of the bytes written so far.
struct Recorded {
    recorder: Arc<dyn Recorder>,
    hash: Box<Xxh3>,
}

impl AtomicFile {
    /// Starts a file that will be published as `path`.
    ///
    /// Symbolic links are followed: their target is replaced. The file gets the permissions of the
    /// one that it replaces, or the default ones of the process. Its owner is the user of the
    /// process. Opening a FIFO waits for its reader.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if `path` is a directory or a file without
    /// write permission, or if its directory is missing or cannot be written.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        AtomicFile::open(path, None)
    }

    /// Like [`create`](AtomicFile::create), with a temporary file named by `recorder`, which must
    /// not exist yet.
    ///
    /// # Errors
    /// Errors of [`create`](AtomicFile::create) and of `recorder`.
    pub fn create_recorded(path: &Path, recorder: Arc<dyn Recorder>) -> Result<AtomicFile> {
        AtomicFile::open(path, Some(recorder))
    }

    /// Like [`create_recorded`](AtomicFile::create_recorded), but everything is checked and created
    /// only when [`BUFFER_BYTES`] are exceeded, or when the file is completed. A smaller file is
    /// held in memory until then, and takes no descriptor.
    pub fn create_later(path: &Path, recorder: Arc<dyn Recorder>) -> AtomicFile {
        AtomicFile {
            path: path.to_owned(),
            open: None,
            buffer: Vec::new(),
            failed: false,
            recorded: Some(Recorded::by(recorder)),
        }
    }

    fn open(path: &Path, recorder: Option<Arc<dyn Recorder>>) -> Result<AtomicFile> {
        Ok(AtomicFile {
            path: path.to_owned(),
            open: Some(OpenFile::create(path, recorder.as_deref())?),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            failed: false,
            recorded: recorder.map(Recorded::by),
        })
    }

    /// Publishes the complete file durably: when this returns, it survives a power loss. (For a
    /// target that is written directly, flushes the buffer.)
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if any byte could not be written, and those of
    /// the recorder; the target is then unchanged. The last step makes the new name durable. If
    /// only that fails, the message says so, and the new file is in place.
    pub fn publish(self) -> Result<()> {
        let recorder = self.recorded.as_ref();
        let recorder = recorder.map(|recorded| Arc::clone(&recorded.recorder));
        let path = self.path.clone();
        let Some(complete) = self.complete()? else {
            return Ok(());
        };
        if let Some(recorder) = &recorder {
            recorder.publishing(&path, &complete.found, complete.digest)?;
        }
        let directory = complete.rename()?;
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|cause| {
                write_error(
                    &path,
                    "is complete, but may not survive a power loss",
                    cause,
                )
            })?;
        recorder.map_or(Ok(()), |recorder| recorder.published(&path))
    }

    /// Writes the remaining bytes, and makes the file durable, without its name: the first step of
    /// [`publish`](AtomicFile::publish), for files that are published together. `None` for a target
    /// that is written directly.
    ///
    /// # Errors
    /// Errors of [`publish`](AtomicFile::publish), and of creating the file.
    pub fn complete(mut self) -> Result<Option<CompleteFile>> {
        self.write_out().map_err(|cause| self.error(cause))?;
        let Some(OpenFile { file, replaces, .. }) = self.open.take() else {
            return Ok(None);
        };
        let Some(replacement) = replaces else {
            return Ok(None);
        };
        let error = |cause| write_error(&self.path, "cannot be written", cause);
        file.sync_all().map_err(error)?;
        let found = file.metadata().map_err(error)?;
        let is_unnamed = matches!(replacement.temporary, Temporary::Unnamed);
        let digest = self.recorded.as_ref().map(|found| found.hash.digest128());
        Ok(Some(CompleteFile {
            found,
            digest: digest.unwrap_or_default(),
            unnamed: is_unnamed.then_some(file),
            replacement,
            path: self.path,
        }))
    }

    /// Whether it holds a descriptor. A file that is [created later](AtomicFile::create_later) does
    /// not, while it is small.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The bytes that it holds in memory.
    pub fn held_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The path as which it will be published.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A handle for reading the written bytes from the start, even after the file was published and
    /// replaced. Not for a target that is written directly.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the process has no descriptor left, or for a
    /// file that is created later.
    pub fn reader(&self) -> Result<File> {
        let open = self
            .open
            .as_ref()
            .ok_or_else(|| io::ErrorKind::NotFound.into());
        let file = open.and_then(|open| open.file.try_clone());
        file.map_err(|cause| self.error(cause))
    }

    /// The error that names this file for `cause`, an error of its [`Write`].
    pub fn error(&self, cause: io::Error) -> Error {
        match Error::from_cause(cause) {
            Ok(error) => error,
            Err(cause) => write_error(&self.path, "cannot be written", cause),
        }
    }

    /// Writes bytes that are in the memory of the process, and not in a mapping of a file: large blocks
    /// are not copied to the buffer.
    ///
    /// # Errors
    /// As of [`Write`].
    pub fn write_block(&mut self, block: &[u8]) -> io::Result<()> {
        let is_small = self.open.is_none() && self.buffer.len() + block.len() <= BUFFER_BYTES;
        if is_small || block.len() < DIRECT_BYTES {
            return self.write_all(block);
        }
        self.write_out()?;
        self.write_to_file(block)
    }

    /// Writes the buffer to the file, which is created if it is not open.
    fn write_out(&mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.failed = true;
        if self.open.is_none() {
            let recorder = self.recorded.as_ref().map(|recorded| &*recorded.recorder);
            let created = recorder
                .map_or(Ok(()), |recorder| recorder.prepare(&self.path))
                .and_then(|()| OpenFile::create(&self.path, recorder));
            self.open = Some(created.map_err(Error::into_cause)?);
        }
        self.failed = false;
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write_to_file(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    /// Writes bytes to the open file.
    fn write_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.failed = true;
        if let Some(open) = &mut self.open {
            open.file.write_all(bytes)?;
            open.bytes += bytes.len() as u64;
            if open.replaces.is_some() {
                open.writeback.grown(&open.file, open.bytes)?;
            }
        }
        if let Some(recorded) = &mut self.recorded {
            recorded.hash.update(bytes);
        }
        self.failed = false;
        Ok(())
    }
}

impl Recorded {
    fn by(recorder: Arc<dyn Recorder>) -> Recorded {
        Recorded {
            recorder,
            hash: Box::default(),
        }
    }
}

impl OpenFile {
    fn create(path: &Path, recorder: Option<&dyn Recorder>) -> Result<OpenFile> {
        let failed = |cause| write_error(path, "cannot be created", cause);
        let (target, mode) = match find(path).map_err(failed)? {
            Target::Direct(file) => {
                return Ok(OpenFile::new(file, None));
            }
            Target::Replaced { target, mode } => (target, mode),
        };
        let directory = target.parent().unwrap_or(Path::new("/")).to_owned();
        let named = match recorder {
            Some(recorder) => Some(recorder.temporary(path, &directory)?),
            None => None,
        };
        let (file, temporary) =
            create_temporary(&target, &directory, named, mode).map_err(failed)?;
        let replacement = Replacement {
            temporary,
            target,
            directory,
        };
        Ok(OpenFile::new(file, Some(replacement)))
    }

    fn new(file: File, replaces: Option<Replacement>) -> OpenFile {
        OpenFile {
            file,
            bytes: 0,
            writeback: Writeback::default(),
            replaces,
        }
    }
}

impl CompleteFile {
    /// The path as which it will be published.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name; returns the directory, which has to be synced to make the name
    /// durable.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write); the target is unchanged then.
    pub fn rename(self) -> Result<PathBuf> {
        let Replacement {
            temporary,
            target,
            directory,
        } = self.replacement;
        let renamed = match (temporary, &self.unnamed) {
            (Temporary::Named(path), _) => path.persist(target).map_err(|refused| refused.error),
            (Temporary::Unnamed, Some(file)) => unnamed::publish(file, &target, &directory),
            (Temporary::Unnamed, None) => Err(io::ErrorKind::NotFound.into()),
        };
        renamed.map_err(|cause| write_error(&self.path, "cannot be written", cause))?;
        Ok(directory)
    }
}

/// Turns a write beyond the file size limit of the process (`ulimit -f`) into an error. By default,
/// a signal would end the process before it can remove its temporary files.
///
/// Only a program should call this, early in `main`, since signals belong to the process.
pub fn outlive_file_size_limit() {
    // SAFETY: ignoring a signal runs no code; the call has no other preconditions.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Every byte goes through the buffer, even those of long slices, except those of
/// [`write_block`](AtomicFile::write_block). So a slice of a truncated mapping
/// is read here, where the guard handles the fault. The kernel would report an error of the output
/// instead ("bad address").
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.write_out()?;
        }
        let taken = bytes.len().min(BUFFER_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Writes the buffer, unless the file is created later.
    fn flush(&mut self) -> io::Result<()> {
        match self.open {
            Some(_) => self.write_out(),
            None => Ok(()),
        }
    }
}

/// The destination of the bytes.
enum Target {
    /// Directly to this open file.
    Direct(File),
    /// To a temporary file that replaces `target`; `mode` has the permissions of an existing
    /// target.
    Replaced { target: PathBuf, mode: Option<u32> },
}

fn find(path: &Path) -> io::Result<Target> {
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mode = match OpenOptions::new().append(true).open(path) {
        Ok(existing) => {
            let found = existing.metadata()?;
            let is_descriptor = DESCRIPTORS.iter().any(|name| path.starts_with(name));
            if !found.is_file() || is_descriptor {
                return Ok(Target::Direct(existing));
            }
            Some(found.mode() & 0o777)
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
        Err(cause) => return Err(cause),
    };
    let (directory, name) = resolve(path)?;
    let target = directory.join(name);
    Ok(Target::Replaced { target, mode })
}

/// Creates the temporary file for `target`: with the name `named`, or without one where the file
/// system can do that, or else with a name of its own.
fn create_temporary(
    target: &Path,
    directory: &Path,
    named: Option<PathBuf>,
    mode: Option<u32>,
) -> io::Result<(File, Temporary)> {
    let permissions = Permissions::from_mode(mode.unwrap_or(0o666));
    let (file, temporary) = match named {
        Some(path) => {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            let file = options.mode(permissions.mode()).open(&path)?;
            (file, Temporary::Named(TempPath::try_from_path(path)?))
        }
        None => match unnamed::create(directory, permissions.mode()) {
            Some(file) => (file, Temporary::Unnamed),
            None => {
                let name = temporary_prefix(target.file_name().unwrap_or_default());
                let mut builder = tempfile::Builder::new();
                let builder = builder.prefix(&name).permissions(permissions.clone());
                let (file, path) = builder.tempfile_in(directory)?.into_parts();
                (file, Temporary::Named(path))
            }
        },
    };
    if mode.is_some() {
        // Creation applied the umask, but this file replaces an existing one.
        file.set_permissions(permissions)?;
    }
    Ok((file, temporary))
}

/// The directory and name of the file at `path`, with links resolved; it need not exist.
fn resolve(path: &Path) -> io::Result<(PathBuf, OsString)> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::canonicalize(parent.unwrap_or(Path::new(".")))?;
    match fs::read_link(&path) {
        // A dangling link; cycles were refused when the path was opened.
        Ok(link) => resolve(&directory.join(link)),
        Err(_) => Ok((directory, name.to_owned())),
    }
}
