//! Atomic output files, which replace their target only when complete.

use super::unnamed::{self, temporary_prefix};
use super::write_error;
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
    file: File,
    replaces: Option<Replacement>,
    buffer: Vec<u8>,
    failed: bool,
    recorded: Option<Recorded>,
}

/// Chooses names of temporary files, and records files before they are published.
pub trait Recorder: Send + Sync {
    /// Returns the path of the temporary file in `directory` for an output that will be published
    /// as `path`. Called before the file is created.
    ///
    /// # Errors
    /// Those of recording the name.
    fn temporary(&self, path: &Path, directory: &Path) -> Result<PathBuf>;

    /// Called before a complete and durable file gets the name `path`. Renaming changes neither its
    /// metadata `file` nor `digest`, the xxh3-128 of its bytes.
    ///
    /// # Errors
    /// Those of recording it; `path` is unchanged then.
    fn publishing(&self, path: &Path, file: &Metadata, digest: u128) -> Result<()>;

    /// Called after the file has got the name `path` durably.
    ///
    /// # Errors
    /// Those of what follows from that; the file stays in place.
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
    /// Those of [`create`](AtomicFile::create) and of `recorder`.
    pub fn create_recorded(path: &Path, recorder: Arc<dyn Recorder>) -> Result<AtomicFile> {
        AtomicFile::open(path, Some(recorder))
    }

    fn open(path: &Path, recorder: Option<Arc<dyn Recorder>>) -> Result<AtomicFile> {
        let failed = |cause| write_error(path, "cannot be created", cause);
        let (file, replaces) = match find(path).map_err(failed)? {
            Target::Direct(file) => (file, None),
            Target::Replaced { target, mode } => {
                let directory = target.parent().unwrap_or(Path::new("/")).to_owned();
                let named = match &recorder {
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
                (file, Some(replacement))
            }
        };
        Ok(AtomicFile {
            path: path.to_owned(),
            file,
            replaces,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            failed: false,
            recorded: recorder.map(|recorder| Recorded {
                recorder,
                hash: Box::default(),
            }),
        })
    }

    /// Publishes the complete file durably: when this returns, it survives a power loss. (For a
    /// target that is written directly, flushes the buffer.)
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if any byte could not be written, and those of
    /// the recorder; the target is then unchanged. The last step makes the new name durable. If
    /// only that fails, the message says so, and the new file is in place.
    pub fn publish(mut self) -> Result<()> {
        self.flush().map_err(|cause| self.error(cause))?;
        let Some(Replacement {
            temporary,
            target,
            directory,
        }) = self.replaces
        else {
            return Ok(());
        };
        let error = |cause| write_error(&self.path, "cannot be written", cause);
        self.file.sync_all().map_err(error)?;
        if let Some(Recorded { recorder, hash }) = &self.recorded {
            let found = self.file.metadata().map_err(error)?;
            recorder.publishing(&self.path, &found, hash.digest128())?;
        }
        match temporary {
            Temporary::Unnamed => unnamed::publish(&self.file, &target, &directory),
            Temporary::Named(path) => path.persist(target).map_err(|refused| refused.error),
        }
        .map_err(error)?;
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(|cause| {
                write_error(
                    &self.path,
                    "is complete, but may not survive a power loss",
                    cause,
                )
            })?;
        match &self.recorded {
            Some(Recorded { recorder, .. }) => recorder.published(&self.path),
            None => Ok(()),
        }
    }

    /// A handle for reading the written bytes from the start, even after the file was published and
    /// replaced. Not for a target that is written directly.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the process has no descriptor left.
    pub fn reader(&self) -> Result<File> {
        self.file.try_clone().map_err(|cause| self.error(cause))
    }

    /// The error that names this file for `cause`, an error of its [`Write`].
    pub fn error(&self, cause: io::Error) -> Error {
        write_error(&self.path, "cannot be written", cause)
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

/// Every byte goes through the buffer, even those of long slices. So a slice of a truncated mapping
/// is read here, where the guard handles the fault. The kernel would report an error of the output
/// instead ("bad address").
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() == BUFFER_BYTES {
            self.flush()?;
        }
        let taken = bytes.len().min(BUFFER_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.failed = true;
        self.file.write_all(&self.buffer)?;
        if let Some(recorded) = &mut self.recorded {
            recorded.hash.update(&self.buffer);
        }
        self.failed = false;
        self.buffer.clear();
        Ok(())
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
