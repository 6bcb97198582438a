//! An object, whose ranges are read while it stays the same.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use bytes::{Bytes, BytesMut};
use tokio::task::AbortHandle;

use crate::answer::{Failure, Fetched};
use crate::attempts::Attempts;
use crate::cache_directory::CacheDirectory;
use crate::cached_blocks::{BLOCK_BYTES, CachedBlocks, whole_blocks};
use crate::client::Client;
use crate::hosts::{Host, lock};
use crate::memory::{self, Memory};
use crate::meter::Meter;
use crate::servers::{Server, advice};
use crate::waiting::wait;
use crate::{Identity, Location, Result};

/// The bytes read at opening: enough to detect the format.
pub const PREFIX_BYTES: u64 = 64 << 10;
/// The most bytes in front of a range that are read and dropped if a server ignores ranges.
const MAX_IGNORED_BYTES: u64 = 1 << 20;

/// An object with its identity.
pub struct Object {
    client: Arc<Client>,
    location: Location,
    server: Arc<Server>,
    host: Arc<Host>,
    identity: Identity,
    /// Its blocks in the cache, if there is one.
    blocks: Option<Arc<CachedBlocks>>,
    /// All its bytes, if they are kept.
    content: Mutex<Option<(Bytes, Memory)>>,
}

/// A range that is being read.
pub(crate) struct Pending {
    pub(crate) range: Range<u64>,
    result: Receiver<Result<Bytes>>,
    /// The request; `None` if the bytes were known.
    task: Option<AbortHandle>,
}

/// An object that is being opened.
pub(crate) struct Opening {
    result: Receiver<Result<Opened>>,
    task: AbortHandle,
    object: Object,
}

/// The first bytes of an object, its identity, and its blocks in the cache.
type Opened = (Bytes, Identity, Option<Arc<CachedBlocks>>);

impl Opening {
    /// The object and its first bytes.
    pub(crate) fn wait(self) -> Result<(Object, Bytes)> {
        let result = wait(&self.result);
        self.task.abort();
        let (prefix, identity, blocks) = result?;
        let object = Object {
            identity,
            blocks,
            ..self.object
        };
        object.keep(&prefix);
        Ok((object, prefix))
    }
}

impl Pending {
    /// The bytes of the range.
    pub(crate) fn wait(&self) -> Result<Bytes> {
        wait(&self.result)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Object {
    /// Begins to read the first bytes of the object at `location`, which tell its identity. What is
    /// read is kept in `cache`.
    pub(crate) fn begin_open(
        client: &Arc<Client>,
        location: Location,
        cache: Option<Arc<CacheDirectory>>,
    ) -> Result<Opening> {
        let (server, host) = client.server(&location)?;
        let host = client.hosts.get(&host);
        let request = Request {
            location: location.clone(),
            server: Arc::clone(&server),
            host: Arc::clone(&host),
            client: Arc::clone(client),
            identity: None,
        };
        let (send, result) = sync_channel(1);
        let task = client.runtime.spawn(async move {
            let _ = send.send(request.open(cache).await);
        });
        Ok(Opening {
            result,
            task: task.abort_handle(),
            object: Object {
                client: Arc::clone(client),
                location,
                server,
                host,
                identity: Identity::default(),
                blocks: None,
                content: Mutex::default(),
            },
        })
    }

    /// The object at `location`, with an identity from a listing.
    pub(crate) fn listed(
        client: &Arc<Client>,
        location: Location,
        identity: Identity,
        cache: Option<&Arc<CacheDirectory>>,
    ) -> Result<Object> {
        let (server, host) = client.server(&location)?;
        let name = location.to_string();
        Ok(Object {
            client: Arc::clone(client),
            blocks: cache.and_then(|cache| CachedBlocks::of(cache, &host, &name, &identity)),
            location,
            server,
            host: client.hosts.get(&host),
            identity,
            content: Mutex::default(),
        })
    }

    /// The name that is shown.
    pub fn name(&self) -> PathBuf {
        self.location.path()
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
    pub(crate) fn keep(&self, bytes: &Bytes) {
        let length = bytes.len() as u64;
        if length == self.bytes()
            && length <= PREFIX_BYTES
            && let Some(memory) = memory::keep(length)
        {
            *lock(&self.content) = Some((bytes.clone(), memory));
        }
    }

    /// Keeps its bytes no longer.
    pub(crate) fn forget_content(&self) {
        *lock(&self.content) = None;
    }

    /// Begins to read a range, or the longer one of [`read_for`](Self::read_for), into `buffer`, which
    /// is empty; `None` if the range is empty.
    pub(crate) fn begin(&self, range: Range<u64>, buffer: BytesMut) -> Option<Pending> {
        let range = self.read_for(range);
        if range.is_empty() {
            return None;
        }
        if let Some((content, _)) = &*lock(&self.content) {
            let bytes = content.slice(range.start as usize..range.end as usize);
            let (send, result) = sync_channel(1);
            let _ = send.send(Ok(bytes));
            return Some(Pending {
                range,
                result,
                task: None,
            });
        }
        let blocks = self.blocks.clone();
        let request = Request {
            location: self.location.clone(),
            server: Arc::clone(&self.server),
            host: Arc::clone(&self.host),
            client: Arc::clone(&self.client),
            identity: Some(self.identity.clone()),
        };
        let (send, result) = sync_channel(1);
        let wanted = range.clone();
        let task = self.client.runtime.spawn(async move {
            let fetch = async |range| Ok(request.read(range, buffer).await?.0);
            let result = match blocks {
                Some(blocks) => blocks.read(wanted, fetch).await,
                None => fetch(wanted).await,
            };
            let _ = send.send(result);
        });
        let task = Some(task.abort_handle());
        Some(Pending {
            range,
            result,
            task,
        })
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
    client: Arc<Client>,
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
        let blocks = CachedBlocks::of(&cache, self.host.name(), &name, &identity);
        let all = 0..BLOCK_BYTES.min(identity.bytes);
        if bytes.len() as u64 == all.end {
            if let Some(blocks) = &blocks {
                blocks.add(0, bytes.clone()).await;
            }
            return Ok((prefix_of(bytes), identity, blocks));
        }
        let request = Request {
            identity: Some(identity.clone()),
            ..self
        };
        let fetch = async |range| Ok(request.read(range, BytesMut::new()).await?.0);
        let prefix = match &blocks {
            Some(blocks) => blocks.read(all, fetch).await?,
            None => fetch(0..PREFIX_BYTES.min(identity.bytes)).await?,
        };
        Ok((prefix_of(prefix), identity, blocks))
    }

    /// The bytes of the range, without those behind the end of the object, and its identity. They
    /// are in `bytes`, which is empty before.
    async fn read(mut self, range: Range<u64>, mut bytes: BytesMut) -> Result<(Bytes, Identity)> {
        let host = Arc::clone(&self.host);
        let client = Arc::clone(&self.client);
        let advice = advice(self.location.scheme);
        let mut attempts = Attempts::new(&host, &client.settings, self.location.path(), advice);
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
