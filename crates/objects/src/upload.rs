//! Objects are written, described and removed. Large files are sent in parts, some at a time.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use object_store::multipart::PartId;
use tokio::time::timeout;

use crate::connections::Connections;
use crate::directory::{Condition, Put, RemoteDirectory, Stored};
use crate::identity::opaque;
use crate::listing;
use crate::reading::object::{Object, Opening};
use crate::reply::Reply;
use crate::requests::answer::Failure;
use crate::requests::attempts::Attempts;
use crate::requests::hosts::Host;
use crate::servers::{Bucket, Server, advice_for_writing, writes};
use crate::shared::Shared;
use crate::{Error, ErrorKind, Location, Result};

/// The maximum number of parts of an upload.
const MAX_PARTS: u64 = 10_000;
/// How long a failed upload waits for the answer to its end.
const ABORT_TIME: Duration = Duration::from_secs(5);
/// The bytes of a range that is read.
const RANGE_BYTES: u64 = 8 << 20;

/// A directory of a bucket.
pub(crate) struct Directory {
    connections: Arc<Connections>,
    bucket: Arc<dyn Bucket>,
    host: Arc<Host>,
    /// The prefix, without a slash at its end.
    location: Location,
}

impl Directory {
    pub(crate) fn open(connections: Arc<Connections>, location: Location) -> Result<Directory> {
        let (server, host) = connections.server(&location)?;
        let Server::Store(store) = &*server else {
            let message = "is not in an object store";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(location.path()));
        };
        Ok(Directory {
            host: connections.hosts.get(&host),
            bucket: Arc::clone(&store.bucket),
            location: location.with_key(location.key.trim_end_matches('/')),
            connections,
        })
    }

    fn location(&self, name: &Path) -> Result<Location> {
        let key = name.to_str().ok_or_else(|| {
            let message = "has a name that is not UTF-8, so that no object can have it";
            Error::new(ErrorKind::Write, message).in_file(self.url(name))
        })?;
        let prefix = &self.location.key;
        Ok(self
            .location
            .with_key(match prefix.is_empty() || key.is_empty() {
                true => format!("{prefix}{key}"),
                false => format!("{prefix}/{key}"),
            }))
    }

    /// Begins a request, which is repeated as long as that may help.
    fn begin<T, F>(
        &self,
        location: Location,
        ask: impl Fn(Arc<dyn Bucket>, Location) -> F + Send + 'static,
    ) -> Reply<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, Failure>> + Send,
    {
        let (shared, host) = (Arc::clone(&self.connections.shared), Arc::clone(&self.host));
        let bucket = Arc::clone(&self.bucket);
        self.connections.ask(async move {
            let advice = advice_for_writing(location.scheme);
            let attempts = Attempts::new(&host, &shared.settings, location.path(), advice);
            let mut attempts = attempts.for_writing();
            loop {
                attempts.begin().await;
                match ask(Arc::clone(&bucket), location.clone()).await {
                    Ok(answer) => return Ok(answer),
                    Err(failure) => attempts.failed(failure).await?,
                }
            }
        })
    }

    fn put_at(&self, location: Location, bytes: Bytes, condition: Condition) -> Result<Put> {
        let put = self.begin(location, move |bucket, location| {
            let bytes = bytes.clone();
            async move { writes::put(&*bucket, &location, bytes, condition).await }
        });
        put.wait()
    }

    /// Sends all parts of a file, a few at a time.
    fn send_parts(&self, location: &Location, upload: &str, file: &File) -> Result<Vec<PartId>> {
        let size = self.size(location, file)?;
        let usual = self.connections.shared.settings.part_bytes;
        let part_bytes = usual.max(size.div_ceil(MAX_PARTS));
        let (mut sent, mut pending) = (Vec::new(), VecDeque::new());
        for (number, start) in (0..size).step_by(part_bytes as usize).enumerate() {
            let length = part_bytes.min(size - start);
            // Other parts are sent meanwhile, and give their memory back.
            let Shared {
                memory,
                interruption,
                ..
            } = &*self.connections.shared;
            let memory = memory.take_for_part(length, interruption)?;
            let bytes = self.contents(location, file, start, length)?;
            let upload = upload.to_owned();
            let task: Reply<PartId> = self.begin(location.clone(), move |bucket, location| {
                let (bytes, upload) = (bytes.clone(), upload.clone());
                let _held_until_sent = &memory;
                async move { writes::part(&*bucket, &location, &upload, number, bytes).await }
            });
            pending.push_back(task);
            if pending.len() > 2
                && let Some(oldest) = pending.pop_front()
            {
                sent.push(oldest.wait()?);
            }
        }
        for task in pending {
            sent.push(task.wait()?);
        }
        Ok(sent)
    }

    fn complete(
        &self,
        location: &Location,
        upload: &str,
        parts: Vec<PartId>,
        size: u64,
    ) -> Result<Put> {
        let upload = upload.to_owned();
        let complete = self.begin(location.clone(), move |bucket, location| {
            let (parts, upload) = (parts.clone(), upload.clone());
            async move { writes::complete(&*bucket, &location, &upload, parts, size).await }
        });
        complete.wait()
    }

    /// Makes one attempt to end an upload, also after
    /// [`Client::stop`](crate::Client::stop).
    fn end_failed(&self, location: &Location, upload: &str) {
        let end = writes::abort(&*self.bucket, location, upload);
        // If it fails, the next run ends the upload.
        let _ = self
            .connections
            .threads
            .block_on(async { timeout(ABORT_TIME, end).await });
    }

    fn size(&self, location: &Location, file: &File) -> Result<u64> {
        let found = file.metadata();
        let found = found.map_err(|cause| unreadable(location, cause))?;
        Ok(found.len())
    }

    fn contents(&self, location: &Location, file: &File, start: u64, length: u64) -> Result<Bytes> {
        let mut bytes = vec![0; length as usize];
        let read = file.read_exact_at(&mut bytes, start);
        read.map_err(|cause| unreadable(location, cause))?;
        Ok(bytes.into())
    }
}

impl RemoteDirectory for Directory {
    fn url(&self, name: &Path) -> PathBuf {
        match name.as_os_str().is_empty() {
            true => self.location.path(),
            false => self.location.path().join(name),
        }
    }

    fn list(&self, is_wanted: &dyn Fn(&Path) -> bool) -> Result<BTreeMap<PathBuf, Stored>> {
        let (listed, _) = listing::all(&self.connections, &self.location, ErrorKind::Write)?;
        let prefix = match self.location.key.as_str() {
            "" => String::new(),
            key => format!("{key}/"),
        };
        let named = listed.into_iter().filter_map(|listed| {
            let name = PathBuf::from(listed.key.strip_prefix(&prefix)?);
            // No file of a directory has a name such as `a//b`, which is equal to `a/b` as a path.
            let is_plain = name.components().collect::<PathBuf>().as_os_str() == name.as_os_str();
            let stored = Stored {
                bytes: listed.identity.bytes,
                etag: listed.identity.etag.map(|etag| opaque(&etag).to_owned()),
                modified: listed.modified,
            };
            (is_plain && is_wanted(&name)).then_some((name, stored))
        });
        Ok(named.collect())
    }

    fn head(&self, name: &Path) -> Result<Option<Stored>> {
        let head = self.begin(self.location(name)?, |bucket, location| async move {
            writes::head(&*bucket, &location).await
        });
        head.wait()
    }

    fn read(&self, name: &Path, each: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let location = self.location(name)?;
        let opened = Object::begin_open(&self.connections, location, None).and_then(Opening::wait);
        let object = match opened {
            Ok(opened) => opened,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let prefix = object.take_first()?.unwrap_or_default();
        each(&prefix);
        let mut start = prefix.len() as u64;
        while start < object.bytes() {
            let bytes = object.read_at(start..start + RANGE_BYTES)?;
            each(&bytes);
            start += bytes.len() as u64;
        }
        Ok(true)
    }

    fn put(&self, name: &Path, bytes: Vec<u8>, condition: Condition) -> Result<Put> {
        self.put_at(self.location(name)?, bytes.into(), condition)
    }

    fn put_file(
        &self,
        name: &Path,
        file: &File,
        condition: Condition,
        on_upload: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Put> {
        let shared = &self.connections.shared;
        let _uploading = Uploading::begin(shared);
        let location = self.location(name)?;
        let size = self.size(&location, file)?;
        if size <= shared.settings.part_bytes {
            let _memory = shared.memory.take_for_part(size, &shared.interruption)?;
            let bytes = self.contents(&location, file, 0, size)?;
            return self.put_at(location, bytes, condition);
        }
        let begin = self.begin(location.clone(), |bucket, location| async move {
            writes::begin(&*bucket, &location).await
        });
        let upload = begin.wait()?;
        let put = on_upload(&upload)
            .and_then(|()| self.send_parts(&location, &upload, file))
            .and_then(|parts| self.complete(&location, &upload, parts, size));
        if put.is_err() {
            self.end_failed(&location, &upload);
        }
        put
    }

    fn abort(&self, name: &Path, upload: &str) -> Result<()> {
        let upload = upload.to_owned();
        let abort = self.begin(self.location(name)?, move |bucket, location| {
            let upload = upload.clone();
            async move { writes::abort(&*bucket, &location, &upload).await }
        });
        abort.wait()
    }

    fn delete(&self, name: &Path) -> Result<()> {
        let delete = self.begin(self.location(name)?, |bucket, location| async move {
            writes::delete(&*bucket, &location).await
        });
        delete.wait()
    }
}

fn unreadable(location: &Location, cause: io::Error) -> Error {
    let message = "cannot be written: the local file with its bytes cannot be read";
    let error = Error::new(ErrorKind::Write, message);
    error.in_file(location.path()).caused_by(cause)
}

fn is_missing(error: &Error) -> bool {
    let cause = error.cause().map(io::Error::kind);
    cause == Some(io::ErrorKind::NotFound)
}

/// Counts a file as being sent until it is dropped.
struct Uploading<'a>(&'a AtomicUsize);

impl Uploading<'_> {
    fn begin(shared: &Shared) -> Uploading<'_> {
        shared.uploads.fetch_add(1, Ordering::Relaxed);
        Uploading(&shared.uploads)
    }
}

impl Drop for Uploading<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
