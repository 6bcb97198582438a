//! A directory of an object store: all objects whose names begin with one prefix.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::Result;

/// An object, as the store describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Its size.
    pub bytes: u64,
    /// Its entity tag, without quotes.
    pub etag: Option<String>,
    /// The time of its last modification, in seconds since 1970.
    pub modified: Option<i64>,
}

/// What must be true for an object to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is no object with its name.
    New,
    /// Nothing: an object with its name is replaced.
    Any,
}

/// The result of writing an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there.
    Stored(Stored),
    /// Nothing was written, as there is an object already. It may be the one to write, if the answer
    /// to an earlier attempt was lost.
    Exists,
    /// Nothing was written, as the store cannot check the condition.
    Unconditional,
}

/// A directory of an object store. Names of objects are relative to it.
///
/// Requests are repeated as those that read. All functions wait for their requests, and fail with
/// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) after `Client::stop`; otherwise with
/// [`ErrorKind::Write`](crate::ErrorKind::Write), which names the object and has the answer of the
/// server.
pub trait RemoteDirectory: Send + Sync {
    /// The URL of the object `name`, for messages.
    fn url(&self, name: &Path) -> PathBuf;

    /// All objects for which `is_wanted`.
    ///
    /// # Errors
    /// Errors of the requests.
    fn list(&self, is_wanted: &dyn Fn(&Path) -> bool) -> Result<BTreeMap<PathBuf, Stored>>;

    /// The description of an object; `None` if it does not exist.
    ///
    /// # Errors
    /// Errors of the request.
    fn head(&self, name: &Path) -> Result<Option<Stored>>;

    /// Gives all bytes of an object to `each`, piece by piece; `false` if it does not exist.
    ///
    /// # Errors
    /// Errors of the requests; [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the object changes.
    fn read(&self, name: &Path, each: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Writes a small object.
    ///
    /// # Errors
    /// Errors of the request.
    fn put(&self, name: &Path, bytes: Vec<u8>, condition: Condition) -> Result<Put>;

    /// Writes the object `name` with the bytes of `file`, all at once when the last byte has arrived.
    /// A large file is sent in parts: `on_upload` gets the name of the upload before the first part.
    /// An upload that fails is aborted if the store still answers. Before the first part, the caller
    /// checks the condition; the store checks it for files that are sent at once.
    ///
    /// # Errors
    /// Errors of the requests, of reading `file`, and of `on_upload`.
    fn put_file(
        &self,
        name: &Path,
        file: &File,
        condition: Condition,
        on_upload: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Put>;

    /// Ends the upload `upload` of the object `name`, if it is unfinished.
    ///
    /// # Errors
    /// Errors of the request.
    fn abort(&self, name: &Path, upload: &str) -> Result<()>;

    /// Removes an object, if it exists.
    ///
    /// # Errors
    /// Errors of the request.
    fn delete(&self, name: &Path) -> Result<()>;
}
