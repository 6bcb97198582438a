//! A client: everything that requests to servers share.

use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::connections::Connections;
use crate::environment::Environment;
use crate::reading::object::{Object, Opening};
use crate::reading::prefetch;
use crate::requests::hosts::lock;
use crate::shared::Shared;
use crate::shared::cache_directory::CacheDirectory;
use crate::upload::Directory;
use crate::{Location, PREFIX_BYTES, RemoteDirectory, Result, listing, opening};

/// A client of servers: the credentials and settings of the environment when it was made,
/// connections, the cache, the memory for bytes of objects, and interruption.
///
/// Copies are the same client; other clients share nothing with it. Threads and connections begin
/// with the first request, and end with the last copy and the last object.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    connections: Arc<Mutex<Option<Arc<Connections>>>>,
}

impl Client {
    /// A client with the environment of this moment.
    pub fn new() -> Client {
        Client {
            shared: Arc::new(Shared::new(Environment::now())),
            connections: Arc::default(),
        }
    }

    fn connections(&self) -> Result<Arc<Connections>> {
        let mut connections = lock(&self.connections);
        if let Some(connections) = &*connections {
            return Ok(Arc::clone(connections));
        }
        let new = Connections::new(Arc::clone(&self.shared))?;
        Ok(Arc::clone(connections.insert(new)))
    }

    /// Begins to open the object at `location`. Its identity is that of this moment.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for contradictory settings of its
    /// server; [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the system refuses a thread.
    pub fn open(&self, location: &Location) -> Result<Opening> {
        let cache = lock(&self.shared.cache).clone();
        Object::begin_open(&self.connections()?, location.clone(), cache)
    }

    /// All objects below `directory`, whose key is a prefix without the slash at its end, in the
    /// order of the bytes of their names. Their identities are known, without a request for each.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for a web server, which has no
    /// listings; [`ErrorKind::Memory`](crate::ErrorKind::Memory) for more objects than
    /// [`set_listing_bytes`](Self::set_listing_bytes) allows;
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if the server does not answer, or its listing is
    /// invalid or endless.
    pub fn list(&self, directory: &Location) -> Result<Vec<Arc<Object>>> {
        let cache = lock(&self.shared.cache).clone();
        listing::objects(&self.connections()?, directory, cache.as_ref())
    }

    /// The directory of an object store with the URL `url`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if it names no object store, or if the
    /// environment has no access to it.
    pub fn open_directory(&self, url: &Path) -> Result<Arc<dyn RemoteDirectory>> {
        let location = opening::writable(url)?;
        self.shared.memory.expect_parts();
        Ok(Arc::new(Directory::open(self.connections()?, location)?))
    }

    /// Ends all requests and the waits for them, present and future ones, with
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn stop(&self) {
        self.shared.interruption.stop();
    }

    /// Calls `notify`, from any thread, with a message as soon as a server has made no progress for
    /// 10 seconds: once until it makes progress again.
    pub fn set_notify(&self, notify: fn(&str)) {
        *lock(&self.shared.notify) = Some(notify);
    }

    /// The servers that get no requests now, as they asked for fewer: how long each waits, and why.
    pub fn waits(&self) -> Vec<String> {
        let connections = lock(&self.connections);
        let waits = connections.iter().flat_map(|own| own.hosts.waits());
        waits.map(|wait| wait.to_string()).collect()
    }

    /// The number of files that are being sent to object stores now.
    pub fn uploads(&self) -> usize {
        self.shared.uploads.load(Ordering::Relaxed)
    }

    /// Keeps what is read from servers in `directory`, in at most the given number of bytes, for
    /// later readings and later runs; `None` keeps nothing. It applies to objects that are opened
    /// afterwards. `say` is called, from any thread, with what users should know.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if the directory has other files;
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be made or read.
    pub fn set_cache(&self, directory: Option<(&Path, u64)>, say: fn(&str)) -> Result<()> {
        let opened = directory.map(|(path, limit)| CacheDirectory::open(path, limit, say));
        *lock(&self.shared.cache) = opened.transpose()?.map(Arc::new);
        Ok(())
    }

    /// The maximum number of bytes that are kept of what is read from servers; `None` without a
    /// cache.
    pub fn cache_bytes(&self) -> Option<u64> {
        let cache = lock(&self.shared.cache);
        cache.as_ref().map(|cache| cache.limit_bytes())
    }

    /// Sets the memory that the objects of all listings may take, which `find` says when a listing
    /// begins; more objects are an error.
    pub fn set_listing_bytes(&self, find: impl Fn() -> u64 + Send + Sync + 'static) {
        self.shared.memory.set_listing_bytes(find);
    }

    /// Takes a part of `spare_bytes` of memory, and returns its size. If any object was asked for,
    /// ranges are read ahead and small objects are kept in a quarter, at most 256 MiB; small
    /// objects have at most half of that. If any directory was opened, parts of files are sent from
    /// an eighth, at most 32 MiB. Each open object holds one range besides, which is being read,
    /// and each file that is sent may hold one part.
    pub fn reserve(&self, spare_bytes: u64) -> u64 {
        self.shared.memory.reserve(spare_bytes)
    }

    /// The number of requests for an object of `bytes` bytes that is read once from its start to its
    /// end, at least `step` at a time, if there is memory to read ahead.
    pub fn requests(&self, bytes: u64, step: u64) -> u64 {
        prefetch::requests(&self.shared.memory, bytes, step)
    }

    /// The readings from start to end that request an object of `bytes` bytes, of `readings` in
    /// all: small objects are kept since their detection, if all of them, `small_bytes`, fit into
    /// the memory.
    pub fn requested_readings(&self, bytes: u64, small_bytes: u64, readings: u64) -> u64 {
        let are_kept = small_bytes <= self.shared.memory.max_kept_bytes();
        match are_kept && bytes <= PREFIX_BYTES {
            true => 0,
            false => readings,
        }
    }
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its environment has credentials.
        out.write_str("Client")
    }
}
