//! The destination of a result: a file that appears when it is complete, or a stream.

pub mod output_directory;
pub mod output_place;
pub mod shard_flags;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use simtool::io::{AtomicFile, InputFiles};
use simtool::{Error, ErrorKind, Result};

use crate::cli::screen;

/// The destination of the result.
#[derive(Debug)]
pub enum Target {
    /// A regular file, existing or not.
    File(PathBuf),
    /// A FIFO, a device or a descriptor.
    Stream(PathBuf),
    /// Standard output.
    Screen,
}

impl Target {
    /// The target `path` of `flag`; `-` is standard output.
    ///
    /// # Errors
    /// Errors of [`InputFiles::claim`]; `files` has every file that the command reads.
    pub fn new(path: PathBuf, flag: &str, files: &mut InputFiles) -> Result<Target> {
        files.claim(&path, flag)?;
        Ok(Target::of(path))
    }

    fn of(path: PathBuf) -> Target {
        let is_special = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if path.as_os_str() == "-" {
            Target::Screen
        } else if is_special || path.starts_with("/dev") || path.starts_with("/proc") {
            Target::Stream(path)
        } else {
            Target::File(path)
        }
    }

    /// The directory for temporary files, if the user names none.
    pub fn temporary(&self) -> PathBuf {
        match self {
            Target::File(path) => directory_of(path).to_owned(),
            Target::Stream(_) | Target::Screen => std::env::temp_dir(),
        }
    }

    /// The path of the target; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Target::File(path) | Target::Stream(path) => Some(path),
            Target::Screen => None,
        }
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        let path = self.path();
        path.map_or("standard output".to_owned(), |path| {
            path.display().to_string()
        })
    }
}

/// The directory that a file, or a directory, is in.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The directory for temporary files of the output `path`, if the user names none.
#[cfg(feature = "index")]
pub fn temporary(path: &Path) -> PathBuf {
    Target::of(path.to_owned()).temporary()
}

/// A result that is being written. If it is dropped, the target does not change.
///
/// A stream gets nothing before the run has succeeded; until then, the result is in an unnamed
/// temporary file.
pub enum Output<'a> {
    File(AtomicFile),
    Waiting(BufWriter<File>, &'a Target, &'a Path),
}

impl<'a> Output<'a> {
    /// Starts the result for `target`, with temporary files in `temporary`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if a file cannot be created.
    pub fn create(target: &'a Target, temporary: &'a Path) -> Result<Output<'a>> {
        match target {
            Target::File(path) => AtomicFile::create(path).map(Output::File),
            Target::Stream(_) | Target::Screen => {
                let file = tempfile::tempfile_in(temporary)
                    .map_err(|cause| unkeepable(target, temporary, cause))?;
                Ok(Output::Waiting(BufWriter::new(file), target, temporary))
            }
        }
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Output::File(file) => file.write_all(bytes).map_err(|cause| file.error(cause)),
            Output::Waiting(file, target, temporary) => file
                .write_all(bytes)
                .map_err(|cause| unkeepable(target, temporary, cause)),
        }
    }

    /// Publishes the result and prints its first `block_bytes` bytes, unless the target is standard
    /// output itself. A closed pipe is not an error.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be written.
    pub fn publish(self, block_bytes: u64) -> Result<()> {
        let (file, target, temporary) = match self {
            Output::File(file) => {
                let reader = file.reader()?;
                file.publish()?;
                return screen::copy(&reader, block_bytes);
            }
            Output::Waiting(file, target, temporary) => (file, target, temporary),
        };
        let unkept = |cause| unkeepable(target, temporary, cause);
        let mut file = file
            .into_inner()
            .map_err(|error| unkept(error.into_error()))?;
        let bytes = file.stream_position().map_err(unkept)?;
        match target.path() {
            None => screen::copy(&file, bytes),
            Some(path) => {
                file.rewind().map_err(unkept)?;
                copy_to(path, &mut file)?;
                screen::copy(&file, block_bytes)
            }
        }
    }
}

/// Copies `from` to the stream `path`.
fn copy_to(path: &Path, from: &mut dyn Read) -> Result<()> {
    let mut stream = AtomicFile::create(path)?;
    let copied = io::copy(from, &mut stream).and_then(|_| stream.flush());
    match copied {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(cause) => Err(stream.error(cause)),
        Ok(()) => stream.publish(),
    }
}

fn unkeepable(target: &Target, temporary: &Path, cause: io::Error) -> Error {
    let message = format!(
        "cannot hold the result for {} (name another place with --temp-dir)",
        target.name()
    );
    Error::new(ErrorKind::Write, message)
        .in_file(temporary)
        .caused_by(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_by_name() {
        let target = |path: &str| Target::of(path.into());
        assert!(matches!(target("-"), Target::Screen));
        for path in ["/dev/null", "/dev/stdout", "/proc/self/fd/1"] {
            assert!(matches!(target(path), Target::Stream(_)), "{path}");
        }
        for (path, temporary) in [("r.txt", "."), ("a/r.txt", "a"), ("./-", "."), ("/r", "/")] {
            assert!(matches!(target(path), Target::File(_)), "{path}");
            assert_eq!(target(path).temporary(), Path::new(temporary));
        }
    }
}
