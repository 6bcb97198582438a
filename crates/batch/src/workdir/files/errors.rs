//! Errors of files in the work directory.

use std::io;
use std::path::Path;

use crate::{Error, ErrorKind};
use simtool_files::write_error;

/// The error for a damaged file.
pub fn damaged(path: &Path) -> Error {
    let message =
        "is damaged, or was made by another version of simtool: start again with --restart";
    Error::new(ErrorKind::Content, message).in_file(path)
}

/// The error for a file that cannot be read or written, with advice for common causes.
pub fn error(path: &Path, cause: io::Error) -> Error {
    let task = "cannot be used as part of the work directory";
    write_error(path, task, cause)
}
