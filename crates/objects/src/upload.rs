//! Objects are written, described and removed. Large files are sent in parts, some at a time.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use object_store::multipart::PartId;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::answer::Failure;
use crate::attempts::Attempts;
use crate::client::Client;
use crate::directory::{Condition, Put, RemoteDirectory, Stored, Uploading};
use crate::hosts::{Host, lock};
use crate::identity::opaque;
use crate::listing;
use crate::object::{Object, Opening};
use crate::servers::{Bucket, Server, advice_for_writing, writes};
use crate::waiting::{STEP, check, wait};
use crate::{Error, ErrorKind, Location, Result};

/// The maximum number of parts of an upload.
const MAX_PARTS: u64 = 10_000;
/// The bytes of parts in memory, over all uploads of the process.
const MEMORY_BYTES: u64 = 32 << 20;
/// How long a failed upload waits for the answer to its end.
const ABORT_TIME: Duration = Duration::from_secs(5);
/// The bytes of a range that is read.
const RANGE_BYTES: u64 = 8 << 20;

/// A directory of a bucket.
pub(crate) struct Directory {
    client: Arc<Client>,
    bucket: Arc<dyn Bucket>,
    host: Arc<Host>,
    /// The prefix, without a slash at its end.
    location: Location,
}

impl Directory {
    pub(crate) fn open(location: Location) -> Result<Directory> {
        let client = Client::get()?;
        let (server, host) = client.server(&location)?;
        let Server::Store(store) = &*server else {
            let message = "is not in an object store";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(location.path()));
        };
        Ok(Directory {
            host: client.hosts.get(&host),
            bucket: Arc::clone(&store.bucket),
            location: location.with_key(location.key.trim_end_matches('/')),
            client,
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
    ) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, Failure>> + Send,
    {
        let (client, host) = (Arc::clone(&self.client), Arc::clone(&self.host));
        let bucket = Arc::clone(&self.bucket);
        let (send, result) = sync_channel(1);
        let task = self.client.runtime.spawn(async move {
            let advice = advice_for_writing(location.scheme);
            let attempts = Attempts::new(&host, &client.settings, location.path(), advice);
            let mut attempts = attempts.for_writing();
            let result = loop {
                attempts.begin().await;
                match ask(Arc::clone(&bucket), location.clone()).await {
                    Ok(answer) => break Ok(answer),
                    Err(failure) => {
                        if let Err(error) = attempts.failed(failure).await {
                            break Err(error);
                        }
                    }
                }
            };
            let _ = send.send(result);
        });
        Task {
            result,
            task: task.abort_handle(),
        }
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
        let usual = self.client.settings.part_bytes;
        let part_bytes = usual.max(size.div_ceil(MAX_PARTS));
        let (mut sent, mut pending) = (Vec::new(), VecDeque::new());
        for (number, start) in (0..size).step_by(part_bytes as usize).enumerate() {
            let length = part_bytes.min(size - start);
            // Other parts are sent meanwhile, and give their memory back.
            let memory = PartMemory::take(length)?;
            let bytes = self.contents(location, file, start, length)?;
            let upload = upload.to_owned();
            let task: Task<PartId> = self.begin(location.clone(), move |bucket, location| {
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

    /// Makes one attempt to end an upload, also after [`stop`](crate::stop).
    fn end_failed(&self, location: &Location, upload: &str) {
        let end = writes::abort(&*self.bucket, location, upload);
        // If it fails, the next run ends the upload.
        let _ = self
            .client
            .runtime
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
        let (listed, _) = listing::all(&self.client, &self.location, ErrorKind::Write)?;
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
        let opened = Object::begin_open(&self.client, location, None).and_then(Opening::wait);
        let (object, prefix) = match opened {
            Ok(opened) => opened,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
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
        let _uploading = Uploading::begin();
        let location = self.location(name)?;
        let size = self.size(&location, file)?;
        if size <= self.client.settings.part_bytes {
            let _memory = PartMemory::take(size)?;
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

/// A request under way, which ends when this is dropped.
struct Task<T> {
    result: Receiver<Result<T>>,
    task: AbortHandle,
}

impl<T> Task<T> {
    fn wait(self) -> Result<T> {
        wait(&self.result)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The bytes of parts that are in memory.
static USED: Mutex<u64> = Mutex::new(0);
static RETURNED: Condvar = Condvar::new();

/// Memory for the bytes of a part.
struct PartMemory(u64);

impl PartMemory {
    /// Waits until other parts were sent, if they need the memory. A part alone may be of any size.
    fn take(bytes: u64) -> Result<PartMemory> {
        let mut used = lock(&USED);
        while *used > 0 && *used + bytes > MEMORY_BYTES {
            check()?;
            let waited = RETURNED.wait_timeout(used, STEP);
            used = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(used, _)| used);
        }
        *used += bytes;
        Ok(PartMemory(bytes))
    }
}

impl Drop for PartMemory {
    fn drop(&mut self) {
        *lock(&USED) -= self.0;
        RETURNED.notify_all();
    }
}
