//! The URLs to which objects can be written.

use std::path::Path;

use crate::{Error, ErrorKind, Location, Result, Scheme};

/// The location of a directory with the URL `url`.
///
/// # Errors
/// [`ErrorKind::Parameter`] if it names no object store.
pub(crate) fn writable(url: &Path) -> Result<Location> {
    let location = Location::parse(url)?;
    let why = match location.scheme {
        Scheme::S3 | Scheme::Gs | Scheme::Az => return Ok(location),
        Scheme::Http | Scheme::Https => {
            "is on a web server, to which nothing can be written: write to a local directory, or \
             to s3://, gs:// or az://"
        }
        Scheme::Hf => {
            "is on the Hugging Face hub, which takes commits rather than files: write to a local \
             directory, and upload it with hf upload"
        }
    };
    Err(Error::new(ErrorKind::Parameter, why).in_file(location.path()))
}
