//! A complete output becomes an object of the store where it belongs.

use std::path::Path;

use simtool_objects::{Condition, Put, RemoteDirectory, Stored};

use super::place::digest;
use super::recorded_files::{FileMark, RecordedFiles};
use crate::{Error, ErrorKind, Result};
use simtool_files::read_regular;

/// Makes the file `staged`, which has the properties `mark`, the object `name`, and describes that.
/// `known` has the versions of the output that runs wrote: an object that is none of them is not
/// replaced. An object that has the bytes of the file already is left as it is.
///
/// `on_upload` is called with the name of the upload before parts are sent.
///
/// # Errors
/// [`ErrorKind::Write`] with what the server said, or if there is an object of others;
/// [`ErrorKind::Interrupted`]; those of `on_upload`.
pub fn upload(
    directory: &dyn RemoteDirectory,
    name: &Path,
    (staged, mark): (&Path, &FileMark),
    known: &RecordedFiles,
    on_upload: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Stored> {
    let found = directory.head(name)?;
    let condition = match &found {
        None => Condition::New,
        Some(found) => match known.version(directory, name, found)? {
            Some(own) if own.has_bytes_of(mark) => return Ok(found.clone()),
            Some(_) => Condition::Any,
            None => return Err(foreign(directory, name)),
        },
    };
    let file = read_regular(staged).map_err(|cause| Error::unreadable(staged, cause))?;
    let put = match directory.put_file(name, &file, condition, on_upload)? {
        Put::Unconditional => directory.put_file(name, &file, Condition::Any, on_upload)?,
        put => put,
    };
    if let Put::Stored(stored) = put {
        return Ok(stored);
    }
    // Either an attempt was successful and its answer was lost, or another program was faster.
    let found = directory.head(name)?;
    let has_bytes = digest(directory, name)? == Some((mark.bytes, mark.digest));
    match found.filter(|_| has_bytes) {
        Some(found) => Ok(found),
        None => Err(foreign(directory, name)),
    }
}

/// The error for an object that no run recorded.
fn foreign(directory: &dyn RemoteDirectory, name: &Path) -> Error {
    let message = "appeared or was changed during the run, and is not replaced (move it away, and \
                   give the same command again)";
    Error::new(ErrorKind::Write, message).in_file(directory.url(name))
}
