//! Errors of files in the work directory.

use std::io;
use std::path::Path;

use crate::{Error, ErrorKind};

/// The error for a damaged file.
pub fn damaged(path: &Path) -> Error {
    let message =
        "is damaged, or was made by another version of simtool: start again with --restart";
    Error::new(ErrorKind::Content, message).in_file(path)
}

/// The error for a file that cannot be read or written.
pub fn error(path: &Path, cause: io::Error) -> Error {
    Error::new(
        ErrorKind::Write,
        "cannot be used as part of the work directory",
    )
    .in_file(path)
    .caused_by(cause)
}
