//! An object, whose ranges are read while it stays the same.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use bytes::{Bytes, BytesMut};
use tokio::task::AbortHandle;

use crate::answer::{Failure, Fetched};
use crate::attempts::Attempts;
use crate::client::Client;
use crate::hosts::Host;
use crate::servers::{Server, advice};
use crate::waiting::wait;
use crate::{Identity, Location, Result};

/// The bytes read at opening: enough to detect the format.
pub(crate) const PREFIX_BYTES: u64 = 64 << 10;
/// The most bytes in front of a range that are read and dropped if a server ignores ranges.
const MOST_IGNORED_BYTES: u64 = 1 << 20;

/// An object with its identity.
pub struct Object {
    client: Arc<Client>,
    location: Location,
    server: Arc<Server>,
    host: Arc<Host>,
    identity: Identity,
}

/// A range that is being read.
pub(crate) struct Pending {
    pub(crate) range: Range<u64>,
    result: Receiver<Result<Bytes>>,
    task: AbortHandle,
}

/// An object that is being opened.
pub(crate) struct Opening {
    result: Receiver<Result<(Bytes, Identity)>>,
    task: AbortHandle,
    object: Object,
}

impl Opening {
    /// The object and its first bytes.
    pub(crate) fn wait(self) -> Result<(Object, Bytes)> {
        let result = wait(&self.result);
        self.task.abort();
        let (prefix, identity) = result?;
        let object = Object {
            identity,
            ..self.object
        };
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
        self.task.abort();
    }
}

impl Object {
    /// Begins to read the first bytes of the object at `location`, which tell its identity.
    pub(crate) fn begin_open(client: &Arc<Client>, location: Location) -> Result<Opening> {
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
            let _ = send.send(request.read(0..PREFIX_BYTES).await);
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
            },
        })
    }

    /// The object at `location`, with an identity from a listing.
    pub(crate) fn listed(
        client: &Arc<Client>,
        location: Location,
        identity: Identity,
    ) -> Result<Object> {
        let (server, host) = client.server(&location)?;
        Ok(Object {
            client: Arc::clone(client),
            location,
            server,
            host: client.hosts.get(&host),
            identity,
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
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) with what the server said;
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if it is another object now;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        match self.begin(range) {
            Some(pending) => pending.wait(),
            None => Ok(Bytes::new()),
        }
    }

    /// Begins to read a range; `None` if it is empty.
    pub(crate) fn begin(&self, range: Range<u64>) -> Option<Pending> {
        let range = range.start..range.end.min(self.bytes());
        if range.is_empty() {
            return None;
        }
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
            let _ = send.send(request.read(wanted).await.map(|(bytes, _)| bytes));
        });
        let task = task.abort_handle();
        Some(Pending {
            range,
            result,
            task,
        })
    }
}

/// A request for a range, which is tried several times.
struct Request {
    client: Arc<Client>,
    location: Location,
    server: Arc<Server>,
    host: Arc<Host>,
    /// The identity that the object must have, if it is known.
    identity: Option<Identity>,
}

impl Request {
    /// The bytes of the range, without those behind the end of the object, and its identity.
    async fn read(mut self, range: Range<u64>) -> Result<(Bytes, Identity)> {
        let host = Arc::clone(&self.host);
        let client = Arc::clone(&self.client);
        let advice = advice(self.location.scheme);
        let mut attempts = Attempts::new(&host, &client.settings, self.location.path(), advice);
        let mut bytes = BytesMut::new();
        loop {
            let permit = attempts.begin().await;
            let before = bytes.len();
            let failure = match self.attempt(&range, &mut bytes).await {
                Ok(identity) => {
                    host.reached();
                    return Ok((bytes.freeze(), identity));
                }
                Err(failure) => failure,
            };
            drop(permit);
            let has_progress = bytes.len() > before;
            attempts
                .failed(match failure {
                    Failure::Broken { said, .. } => Failure::Broken { said, has_progress },
                    failure => failure,
                })
                .await?;
        }
    }

    /// Appends the missing bytes of `range` to `bytes`, as many as arrive.
    async fn attempt(
        &mut self,
        range: &Range<u64>,
        bytes: &mut BytesMut,
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
        if offset > start {
            return Err(Failure::broken("an answer with another range"));
        }
        let mut ignored = start - offset;
        if ignored > MOST_IGNORED_BYTES {
            let said = "the server ignores ranges: download the object first, and read the copy";
            return Err(Failure::refused(said));
        }
        let length = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        bytes.reserve(length.saturating_sub(bytes.len()));
        while bytes.len() < length {
            let piece = body.next().await.map_err(Failure::broken)?;
            let Some(mut piece) = piece else {
                let said = format!("the answer ended after {} of {length} bytes", bytes.len());
                return Err(Failure::broken(said));
            };
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
