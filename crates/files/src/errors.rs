//! Errors of inputs and outputs, with advice for common causes.

use crate::{Error, ErrorKind};
use std::io;
use std::path::Path;

/// The error of an input that cannot be opened or read, with advice for common causes.
pub fn read_error(input: &Path, cause: io::Error) -> Error {
    let cause = match Error::from_cause(cause) {
        Ok(error) => return error,
        Err(cause) => cause,
    };
    let message = match cause.kind() {
        io::ErrorKind::NotFound => "cannot be read (check the spelling of its name)",
        io::ErrorKind::PermissionDenied => "cannot be read (ask its owner for read permission)",
        _ => "cannot be read",
    };
    Error::new(ErrorKind::Read, message)
        .in_file(input)
        .caused_by(cause)
}

/// The error of an output or temporary file; `task` says what failed ("cannot ...").
pub fn write_error(output: &Path, task: &str, cause: io::Error) -> Error {
    let advice = match cause.kind() {
        io::ErrorKind::StorageFull => " (the disk is full: free space or choose another place)",
        io::ErrorKind::QuotaExceeded => " (the disk quota is used up: choose another place)",
        io::ErrorKind::FileTooLarge => " (larger than the file system or `ulimit -f` allows)",
        io::ErrorKind::ReadOnlyFilesystem => " (the file system is read-only)",
        io::ErrorKind::PermissionDenied => " (no permission to write there)",
        io::ErrorKind::NotFound => " (its directory does not exist)",
        io::ErrorKind::IsADirectory => " (it is a directory: name a file in it)",
        _ => "",
    };
    Error::new(ErrorKind::Write, format!("{task}{advice}"))
        .in_file(output)
        .caused_by(cause)
}
