//! Opening of files that must be regular files.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens `path` with `options`. A FIFO, a device or a directory is an error; opening a FIFO does
/// not wait for its other end.
///
/// # Errors
/// Errors of the system, and [`io::ErrorKind::InvalidInput`] if `path` is not a regular file.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        let message = "it is no regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

/// Opens the regular file `path` for reading.
///
/// # Errors
/// Errors of the system, and [`io::ErrorKind::InvalidInput`] if `path` is not a regular file.
pub fn read_regular(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// The contents of the regular file `path`.
///
/// # Errors
/// Errors of [`read_regular`], and those of reading.
pub fn regular_contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    read_regular(path)?.read_to_end(&mut contents)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_fifo_and_a_directory_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        for path in [&fifo, directory.path()] {
            let error = read_regular(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        let mut options = OpenOptions::new();
        open_regular(&fifo, options.write(true)).unwrap_err();
        std::fs::write(directory.path().join("file"), "x").unwrap();
        let contents = regular_contents(&directory.path().join("file"));
        assert_eq!(contents.unwrap(), b"x");
    }
}
