//! An object, whose ranges are read while it stays the same.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};

use super::cached_blocks::{BLOCK_BYTES, CachedBlocks, whole_blocks};
use crate::connections::Connections;
use crate::reply::Reply;
use crate::requests::answer::{Failure, Fetched};
use crate::requests::attempts::Attempts;
use crate::requests::hosts::{Host, lock};
use crate::requests::meter::Meter;
use crate::servers::{Server, advice};
use crate::shared::cache_directory::CacheDirectory;
use crate::shared::memory::{KeptContent, Memory, TakenMemory};
use crate::{Identity, Location, PREFIX_BYTES, Result};

/// The most bytes in front of a range that are read and dropped if a server ignores ranges.
const MAX_IGNORED_BYTES: u64 = 1 << 20;

/// An object with its identity.
pub struct Object {
    connections: Arc<Connections>,
    location: Location,
    server: Arc<Server>,
    host: Arc<Host>,
    identity: Identity,
    /// Its blocks in the cache, if there is one.
    blocks: Option<Arc<CachedBlocks>>,
    /// All its bytes, if they are kept.
    content: KeptContent,
    /// Its first bytes, until they are taken.
    first: Mutex<Option<FirstBytes>>,
}

/// First bytes that are not wanted yet.
enum FirstBytes {
    Requested(Option<Pending>),
    Arrived { prefix: Bytes, _memory: TakenMemory },
}

/// A range that is being read.
pub(crate) struct Pending {
    pub(crate) range: Range<u64>,
    reply: Reply<Bytes>,
}

/// An object that is being opened.
pub struct Opening {
    reply: Reply<Opened>,
    object: Object,
}

/// The first bytes of an object, its identity, and its blocks in the cache.
type Opened = (Bytes, Identity, Option<Arc<CachedBlocks>>);

impl Opening {
    /// The object. Its first 64 KiB can be [taken](Object::take_first), if it is one of the 256 last
    /// ones whose first bytes were not.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if it cannot be read;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn wait(self) -> Result<Arc<Object>> {
        let (prefix, identity, blocks) = self.reply.wait()?;
        let object = Object {
            identity,
            blocks,
            ..self.object
        };
        object.keep(&prefix);
        let memory = object.memory().take_for_first(prefix.len() as u64);
        let first = memory.map(|_memory| FirstBytes::Arrived { prefix, _memory });
        *lock(&object.first) = first;
        Ok(Arc::new(object))
    }
}

impl Pending {
    /// The bytes of the range.
    pub(crate) fn wait(&self) -> Result<Bytes> {
        self.reply.wait()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {:?}", self.location, self.identity)
    }
}

impl Object {
    /// The object at `location`, without an identity.
    fn new(connections: &Arc<Connections>, location: Location) -> Result<Object> {
        let (server, host) = connections.server(&location)?;
        Ok(Object {
            connections: Arc::clone(connections),
            location,
            server,
            host: connections.hosts.get(&host),
            identity: Identity::default(),
            blocks: None,
            content: KeptContent::none(&connections.shared.memory),
            first: Mutex::default(),
        })
    }

    /// Begins to read the first bytes of the object at `location`, which tell its identity. What is
    /// read is kept in `cache`.
    pub(crate) fn begin_open(
        connections: &Arc<Connections>,
        location: Location,
        cache: Option<Arc<CacheDirectory>>,
    ) -> Result<Opening> {
        let object = Object::new(connections, location)?;
        let reply = connections.ask(object.request(None).open(cache));
        Ok(Opening { reply, object })
    }

    /// The object at `location`, with an identity from a listing.
    pub(crate) fn listed(
        connections: &Arc<Connections>,
        location: Location,
        identity: Identity,
        cache: Option<&Arc<CacheDirectory>>,
    ) -> Result<Object> {
        let object = Object::new(connections, location)?;
        let (host, name) = (object.host.name(), object.location.to_string());
        let blocks = cache.and_then(|cache| CachedBlocks::of(cache, host, &name, &identity));
        Ok(Object {
            blocks,
            identity,
            ..object
        })
    }

    fn request(&self, identity: Option<Identity>) -> Request {
        Request {
            connections: Arc::clone(&self.connections),
            location: self.location.clone(),
            server: Arc::clone(&self.server),
            host: Arc::clone(&self.host),
            identity,
        }
    }

    /// The memory of its client.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.connections.shared.memory
    }

    /// The name that is shown.
    pub fn name(&self) -> PathBuf {
        self.location.path()
    }

    /// Its key in its bucket or on its host.
    pub fn key(&self) -> &str {
        &self.location.key
    }

    /// What must not change while it is read.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.identity.bytes
    }

    /// The bytes of a range, without those behind the end of the object.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) with the answer of the server;
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is another object now;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let Some(pending) = self.begin(range.clone(), BytesMut::new()) else {
            return Ok(Bytes::new());
        };
        let bytes = pending.wait()?;
        let start = (range.start - pending.range.start) as usize;
        let length = (range.end.min(self.bytes()) - range.start) as usize;
        Ok(bytes.slice(start..start + length))
    }

    /// The range that is read for `range`: of objects that are kept in a cache, whole blocks.
    pub(crate) fn read_for(&self, range: Range<u64>) -> Range<u64> {
        let range = range.start..range.end.min(self.bytes());
        match self.blocks.is_some() && !range.is_empty() {
            true => whole_blocks(&range, self.bytes()),
            false => range,
        }
    }

    /// Keeps all bytes of a small object, if these are they and there is memory. Later reads need no
    /// request.
    fn keep(&self, bytes: &Bytes) {
        let length = bytes.len() as u64;
        if length == self.bytes() && length <= PREFIX_BYTES {
            self.content.keep(bytes.clone());
        }
    }

    /// Requests the first 64 KiB, unless they were requested already.
    pub fn request_first(&self) {
        let mut first = lock(&self.first);
        if first.is_none() {
            let pending = self.begin(0..PREFIX_BYTES, BytesMut::new());
            *first = Some(FirstBytes::Requested(pending));
        }
    }

    /// The first 64 KiB, if they were read at opening or requested, and not taken yet.
    ///
    /// # Errors
    /// Errors of [`read_at`](Self::read_at).
    pub fn take_first(&self) -> Result<Option<Bytes>> {
        let first = lock(&self.first).take();
        let prefix = match first {
            None => return Ok(None),
            Some(FirstBytes::Arrived { prefix, .. }) => return Ok(Some(prefix)),
            Some(FirstBytes::Requested(None)) => Bytes::new(),
            Some(FirstBytes::Requested(Some(pending))) => prefix_of(pending.wait()?),
        };
        self.keep(&prefix);
        Ok(Some(prefix))
    }

    /// Begins to read a range, or the longer one of [`read_for`](Self::read_for), into `buffer`, which
    /// is empty; `None` if the range is empty.
    pub(crate) fn begin(&self, range: Range<u64>, buffer: BytesMut) -> Option<Pending> {
        let range = self.read_for(range);
        if range.is_empty() {
            return None;
        }
        if let Some(content) = self.content.get() {
            let bytes = content.slice(range.start as usize..range.end as usize);
            let reply = Reply::known(&self.connections.shared, bytes);
            return Some(Pending { range, reply });
        }
        let blocks = self.blocks.clone();
        let request = self.request(Some(self.identity.clone()));
        let wanted = range.clone();
        let reply = self.connections.ask(async move {
            let threads = &Arc::clone(&request.connections).threads;
            let fetch = async |range| Ok(request.read(range, buffer).await?.0);
            match blocks {
                Some(blocks) => blocks.read(threads, wanted, fetch).await,
                None => fetch(wanted).await,
            }
        });
        Some(Pending { range, reply })
    }
}

/// The first bytes of an object, without others that were read with them.
pub(crate) fn prefix_of(bytes: Bytes) -> Bytes {
    match bytes.get(..PREFIX_BYTES as usize) {
        // A copy, so that it does not keep the others in memory.
        Some(prefix) if prefix.len() < bytes.len() => Bytes::copy_from_slice(prefix),
        _ => bytes,
    }
}

/// A request for a range, which is tried several times.
#[derive(Clone)]
struct Request {
    connections: Arc<Connections>,
    location: Location,
    server: Arc<Server>,
    host: Arc<Host>,
    /// The identity that the object must have, if it is known.
    identity: Option<Identity>,
}

impl Request {
    /// The first bytes of the object and its identity. If the cache may have them, only one byte is
    /// requested, which tells the identity.
    async fn open(self, cache: Option<Arc<CacheDirectory>>) -> Result<Opened> {
        let Some(cache) = cache else {
            let (prefix, identity) = self.read(0..PREFIX_BYTES, BytesMut::new()).await?;
            return Ok((prefix, identity, None));
        };
        let name = self.location.to_string();
        let wanted = match cache.has_blocks(&name) {
            true => 0..1,
            false => 0..BLOCK_BYTES,
        };
        let (bytes, identity) = self.clone().read(wanted, BytesMut::new()).await?;
        let threads = &Arc::clone(&self.connections).threads;
        let blocks = CachedBlocks::of(&cache, self.host.name(), &name, &identity);
        let all = 0..BLOCK_BYTES.min(identity.bytes);
        if bytes.len() as u64 == all.end {
            if let Some(blocks) = &blocks {
                blocks.add(threads, 0, bytes.clone()).await;
            }
            return Ok((prefix_of(bytes), identity, blocks));
        }
        let request = Request {
            identity: Some(identity.clone()),
            ..self
        };
        let fetch = async |range| Ok(request.read(range, BytesMut::new()).await?.0);
        let prefix = match &blocks {
            Some(blocks) => blocks.read(threads, all, fetch).await?,
            None => fetch(0..PREFIX_BYTES.min(identity.bytes)).await?,
        };
        Ok((prefix_of(prefix), identity, blocks))
    }

    /// The bytes of the range, without those behind the end of the object, and its identity. They
    /// are in `bytes`, which is empty before.
    async fn read(mut self, range: Range<u64>, mut bytes: BytesMut) -> Result<(Bytes, Identity)> {
        let host = Arc::clone(&self.host);
        let connections = Arc::clone(&self.connections);
        let (settings, advice) = (&connections.shared.settings, advice(self.location.scheme));
        let mut attempts = Attempts::new(&host, settings, self.location.path(), advice);
        let meter = attempts.meter();
        loop {
            attempts.begin().await;
            let attempt = self.attempt(&range, &mut bytes, &meter);
            match meter.within(attempt).await {
                Ok(identity) => {
                    host.reached();
                    return Ok((bytes.freeze(), identity));
                }
                Err(failure) => attempts.failed(failure).await?,
            }
        }
    }

    /// Appends the missing bytes of `range` to `bytes`, as many as arrive.
    async fn attempt(
        &mut self,
        range: &Range<u64>,
        bytes: &mut BytesMut,
        meter: &Meter,
    ) -> std::result::Result<Identity, Failure> {
        let start = range.start + bytes.len() as u64;
        let wanted = start..range.end;
        let known = self.identity.as_ref();
        let Fetched {
            identity,
            offset,
            mut body,
        } = self.server.get(&self.location, wanted, known).await?;
        if let Some(known) = known
            && !known.agrees(&identity)
        {
            return Err(Failure::changed(changed(known, &identity)));
        }
        let known = self.identity.get_or_insert(identity).clone();
        let end = range.end.min(known.bytes);
        let mut ignored = start - offset;
        if ignored > MAX_IGNORED_BYTES {
            let detail = "the server ignores ranges: download the object first, and read the copy";
            return Err(Failure::refused(detail));
        }
        let length = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        bytes.reserve(length.saturating_sub(bytes.len()));
        while bytes.len() < length {
            let Some(mut piece) = body.next().await? else {
                let detail = format!("the answer ended after {} of {length} bytes", bytes.len());
                return Err(Failure::broken(detail));
            };
            meter.received(piece.len());
            let skipped = ignored.min(piece.len() as u64);
            ignored -= skipped;
            let piece = piece.split_off(skipped as usize);
            let taken = piece.len().min(length - bytes.len());
            bytes.extend_from_slice(&piece[..taken]);
        }
        Ok(known)
    }
}

/// How an object changed.
fn changed(known: &Identity, found: &Identity) -> String {
    let how = match known.bytes == found.bytes {
        true => "the server now has another version of it".to_owned(),
        false => format!("expected {} bytes, found {}", known.bytes, found.bytes),
    };
    format!("changed while it was being read: {how} (run again when it is complete)")
}
