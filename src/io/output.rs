//! Files that appear under their name when they are complete, and not before.

use super::{unnamed, write_error};
use crate::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempPath;
use xxhash_rust::xxh3::Xxh3;

/// The bytes that an [`AtomicFile`] collects before it writes them.
pub const BUFFER_BYTES: usize = 1 << 20;

/// Names of descriptors that are open already, whatever they lead to.
const DESCRIPTORS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// A file that is written beside its target and takes its place in one step.
///
/// Until [`publish`](AtomicFile::publish) succeeds, the target is what it was: nothing, or the old
/// file. Dropping an `AtomicFile` instead removes what was written.
///
/// The temporary file has no name while it is written, so a process that is killed leaves nothing.
/// It has one, `.NAME.` and six characters, only between the last two steps of a publication that
/// replaces a file, and on file systems that have no unnamed files. With a [`Recorder`], it always
/// has the name that the recorder gives it.
///
/// A target that exists and is not a regular file (`/dev/null`, a FIFO), or that names an open
/// descriptor (`/dev/stdout`), cannot be replaced; it is appended to directly, and may have
/// received a part when something fails.
///
/// Errors of [`Write`] do not know the file; [`error`](AtomicFile::error) adds it. After one, all
/// later writes and `publish` fail too.
pub struct AtomicFile {
    path: PathBuf,
    file: File,
    replaces: Option<Replacement>,
    buffer: Vec<u8>,
    failed: bool,
    recorded: Option<Recorded>,
}

/// Names temporary files, and is told what is about to be published.
pub trait Recorder: Send + Sync {
    /// The temporary file, in `directory`, for an output that will be published as `path`. Called
    /// before the file is created.
    ///
    /// # Errors
    /// Those of recording the name.
    fn temporary(&self, path: &Path, directory: &Path) -> Result<PathBuf>;

    /// A complete and durable file is about to get the name `path`. Renaming changes neither what
    /// `file` says of it nor `digest`, the xxh3-128 of its bytes.
    ///
    /// # Errors
    /// Those of recording it, which leave `path` as it is.
    fn publishing(&self, path: &Path, file: &Metadata, digest: u128) -> Result<()>;
}

struct Replacement {
    temporary: Temporary,
    target: PathBuf,
    directory: PathBuf,
}

enum Temporary {
    /// A file that ends with its descriptor unless it gets a name.
    Unnamed,
    Named(TempPath),
}

/// Who is told of the file, and the digest of what was written so far.
struct Recorded {
    recorder: Arc<dyn Recorder>,
    hash: Box<Xxh3>,
}

impl AtomicFile {
    /// Starts a file that will be published as `path`.
    ///
    /// Symbolic links are followed: what they point to is replaced. The file gets the permissions
    /// of the one that it replaces, or those that the process gives to new files. Its owner is
    /// the user of the process. Opening a FIFO waits for its reader.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if `path` is a directory or a file without
    /// write permission, or if its directory is missing or cannot be written.
    pub fn create(path: &Path) -> Result<AtomicFile> {
        AtomicFile::open(path, None)
    }

    /// The same with a temporary file that `recorder` names. It must not exist yet.
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

    /// Puts the complete file in its place, durably: when this returns, it survives a power loss.
    /// (A target that cannot be replaced gets the last of its bytes.)
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if any byte could not be written; the target
    /// is then what it was. The last step is to make the new name durable; if only that fails, the
    /// message says so, and the new file is in place.
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
            })
    }

    /// A handle for reading what was written, from the start, also after the file was published
    /// and its name went to another one. Not for a target that is written directly.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the process has no descriptor left.
    pub fn reader(&self) -> Result<File> {
        self.file.try_clone().map_err(|cause| self.error(cause))
    }

    /// The error of this file that `cause`, an error of its [`Write`], stands for.
    pub fn error(&self, cause: io::Error) -> Error {
        write_error(&self.path, "cannot be written", cause)
    }
}

/// Lets a write beyond the process's limit on file sizes (`ulimit -f`) fail as that write, instead
/// of ending the process, which could then not remove its temporary files.
///
/// Only a program calls this, early in `main`: signals belong to the process.
pub fn outlive_file_size_limit() {
    // SAFETY: ignoring a signal runs no code; the call has no other preconditions.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Every byte goes through the buffer, also those of long slices: a slice of a mapped input that
/// was truncated is then read here, where the guard sees the fault, and not by the kernel, which
/// would blame the output ("bad address").
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

/// Where the bytes of an output go.
enum Target {
    /// Into this open file.
    Direct(File),
    /// Into a temporary file that replaces `target`, which has the permissions `mode` if it exists.
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
        // Creation applied the mask for new files; this file takes the place of an old one.
        file.set_permissions(permissions)?;
    }
    Ok((file, temporary))
}

/// Directory and name of the file that `path` leads to, whether it exists or not.
fn resolve(path: &Path) -> io::Result<(PathBuf, OsString)> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = fs::canonicalize(parent.unwrap_or(Path::new(".")))?;
    match fs::read_link(&path) {
        // A link that leads nowhere yet; circles were refused when the path was opened.
        Ok(link) => resolve(&directory.join(link)),
        Err(_) => Ok((directory, name.to_owned())),
    }
}

/// `.NAME.`, with NAME cut so that the name of the temporary file is never too long.
pub(super) fn temporary_prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(200)]));
    prefix.push(".");
    prefix
}
