//! Opening a directory of an object store by its URL.

use std::path::Path;
use std::sync::Arc;

use crate::{Error, ErrorKind, Location, RemoteDirectory, Result, Scheme};

/// The directory of an object store with the URL `url`.
///
/// # Errors
/// [`ErrorKind::Parameter`] if it names no object store, or if this build or the environment has no
/// access to it.
pub fn open_directory(url: &Path) -> Result<Arc<dyn RemoteDirectory>> {
    let location = Location::parse(url)?;
    let refused = |message: &str| {
        let error = Error::new(ErrorKind::Parameter, message);
        Err(error.in_file(location.path()))
    };
    match location.scheme {
        Scheme::S3 | Scheme::Gs | Scheme::Az => {}
        Scheme::Http | Scheme::Https => {
            return refused(
                "is on a web server, to which nothing can be written: write to a local directory, \
                 or to s3://, gs:// or az://",
            );
        }
        Scheme::Hf => {
            return refused(
                "is on the Hugging Face hub, which takes commits rather than files: write to a \
                 local directory, and upload it with hf upload",
            );
        }
    }
    #[cfg(feature = "client")]
    return Ok(Arc::new(crate::upload::Directory::open(location)?));
    #[cfg(not(feature = "client"))]
    refused("cannot be written: build simtool with the feature `cloud`")
}
