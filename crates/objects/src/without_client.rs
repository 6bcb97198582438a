//! The client of a build that reads nothing from servers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Error, ErrorKind, Identity, Location, RemoteDirectory, Result, opening};

/// A client without requests: there are no objects.
#[derive(Clone, Debug, Default)]
pub struct NoClient(());

/// An object; this build has none.
#[derive(Debug)]
pub enum NoObject {}

/// An object that is being opened.
pub enum NoOpening {}

impl NoOpening {
    /// The object.
    ///
    /// # Errors
    /// None.
    pub fn wait(self) -> Result<Arc<NoObject>> {
        match self {}
    }
}

impl NoObject {
    /// The name that is shown.
    pub fn name(&self) -> PathBuf {
        match *self {}
    }

    /// Its key in its bucket or on its host.
    pub fn key(&self) -> &str {
        match *self {}
    }

    /// Requests its first bytes.
    pub fn request_first(&self) {
        match *self {}
    }

    /// What must not change while it is read.
    pub fn identity(&self) -> &Identity {
        match *self {}
    }
}

impl NoClient {
    /// A client.
    pub fn new() -> NoClient {
        NoClient(())
    }

    /// Nothing can be read from servers.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn open(&self, location: &Location) -> Result<NoOpening> {
        Err(refused("read", location))
    }

    /// Nothing can be listed.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn list(&self, directory: &Location) -> Result<Vec<Arc<NoObject>>> {
        Err(refused("read", directory))
    }

    /// Nothing can be written to servers.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn open_directory(&self, url: &Path) -> Result<Arc<dyn RemoteDirectory>> {
        Err(refused("written", &opening::writable(url)?))
    }

    /// Nothing is kept of what is read from servers.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a directory.
    pub fn set_cache(&self, directory: Option<(&Path, u64)>, _say: fn(&str)) -> Result<()> {
        let Some((path, _)) = directory else {
            return Ok(());
        };
        let message = "cannot be used as a cache: this build reads nothing from servers (build \
                       simtool with the feature `cloud`)";
        Err(Error::new(ErrorKind::Parameter, message).in_file(path))
    }

    /// `None`: there is no cache.
    pub fn cache_bytes(&self) -> Option<u64> {
        None
    }

    /// There are no requests to end.
    pub fn stop(&self) {}

    /// There are no servers to notify of.
    pub fn set_notify(&self, _notify: fn(&str)) {}

    /// There are no listings.
    pub fn set_listing_bytes(&self, _find: impl Fn() -> u64) {}

    /// No server waits.
    pub fn waits(&self) -> Vec<String> {
        Vec::new()
    }

    /// No file is being sent.
    pub fn uploads(&self) -> usize {
        0
    }

    /// No memory is needed.
    pub fn reserve(&self, _spare_bytes: u64) -> u64 {
        0
    }

    /// One request for each step.
    pub fn requests(&self, bytes: u64, step: u64) -> u64 {
        bytes.div_ceil(step)
    }

    /// All readings.
    pub fn requested_readings(&self, _bytes: u64, _small_bytes: u64, readings: u64) -> u64 {
        readings
    }
}

fn refused(what: &str, location: &Location) -> Error {
    let message = format!("cannot be {what}: build simtool with the feature `cloud`");
    Error::new(ErrorKind::Parameter, message).in_file(location.path())
}
