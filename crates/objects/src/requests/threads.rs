//! The threads of a client: those of requests, and those of calls that block.
//!
//! All start with the client, so a thread that the system refuses is an error then, and no request
//! waits for it. A runtime of several threads would panic, or run tasks that block never.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::vec::IntoIter;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name as HyperName;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use simtool_core::threads::start;
use tokio::runtime::{Builder, EnterGuard, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower_service::Service;

use super::hosts::lock;
use crate::{Error, ErrorKind, Result};

/// The threads for requests.
const REQUESTS: usize = 2;
/// The threads for names of hosts, and for reading and writing the cache.
const BLOCKING: usize = 4;

type Work = Box<dyn FnOnce() + Send>;

/// The threads of a client; they end when it is dropped.
pub(crate) struct Threads {
    requests: Vec<(Handle, oneshot::Sender<()>)>,
    next: AtomicUsize,
    blocking: Sender<Work>,
}

impl Threads {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the system refuses one.
    pub(crate) fn start() -> Result<Threads> {
        let (blocking, work) = channel::<Work>();
        let work = Arc::new(Mutex::new(work));
        for _ in 0..BLOCKING {
            let work = Arc::clone(&work);
            start("blocking", move || {
                while let Some(next) = next(&work) {
                    // After a panic, the channel of the result is closed.
                    let _ = catch_unwind(AssertUnwindSafe(next));
                }
            })?;
        }
        Ok(Threads {
            requests: (0..REQUESTS).map(|_| requests()).collect::<Result<_>>()?,
            next: AtomicUsize::new(0),
            blocking,
        })
    }

    fn handle(&self) -> &Handle {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % REQUESTS;
        &self.requests[number].0
    }

    /// Runs a task in one of the threads for requests, which take turns.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle().spawn(task)
    }

    /// The result of a task, for which this thread waits.
    pub(crate) fn block_on<T>(&self, task: impl Future<Output = T>) -> T {
        self.handle().block_on(task)
    }

    /// Lets this thread start tasks until the guard is dropped.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.handle().enter()
    }

    /// The result of `work`, which may block; `None` if it panics.
    pub(crate) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        block(&self.blocking, work).await
    }

    /// The addresses of host names.
    pub(crate) fn names(&self) -> Names {
        Names(self.blocking.clone())
    }
}

/// The next work; `None` after the last one.
fn next(work: &Mutex<Receiver<Work>>) -> Option<Work> {
    lock(work).recv().ok()
}

async fn block<T: Send + 'static>(
    blocking: &Sender<Work>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, result) = oneshot::channel();
    let work = move || {
        let _ = send.send(work());
    };
    blocking.send(Box::new(work)).ok()?;
    result.await.ok()
}

/// A thread with a runtime of its own, which ends when the sender is dropped.
fn requests() -> Result<(Handle, oneshot::Sender<()>)> {
    let refused = |cause| Error::new(ErrorKind::Read, "no requests can be sent").caused_by(cause);
    // Tokio panics if it is refused the last of its five descriptors.
    let pairs: io::Result<Vec<_>> = (0..3).map(|_| UnixStream::pair()).collect();
    drop(pairs.map_err(refused)?);
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(refused)?;
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel();
    start("requests", move || {
        let _: Option<()> = runtime.block_on(ended).ok();
    })?;
    Ok((handle, end))
}

/// Asks the system for the addresses of host names.
#[derive(Clone)]
pub(crate) struct Names(Sender<Work>);

impl Names {
    /// The addresses of a host; the port is replaced by that of the URL.
    async fn addresses(self, name: String) -> io::Result<IntoIter<SocketAddr>> {
        let found = block(&self.0, move || (&*name, 0).to_socket_addrs()).await;
        found.ok_or_else(|| io::Error::other("the addresses of the host were not found"))?
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let addresses = self.clone().addresses(name.as_str().to_owned());
        Box::pin(async { Ok(Box::new(addresses.await?) as Addrs) })
    }
}

impl Service<HyperName> for Names {
    type Response = IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<IntoIter<SocketAddr>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: HyperName) -> Self::Future {
        self.clone().addresses(name.as_str().to_owned()).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_blocks_does_not_stop_requests() {
        let threads = Threads::start().unwrap();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Mutex::new(ended);
        let (send, result) = std::sync::mpsc::channel();
        let blocking = threads.blocking.clone();
        let own = send.clone();
        threads.spawn(async move {
            let _ = block(&blocking, move || lock(&ended).recv()).await;
            own.send("blocking").unwrap();
        });
        for _ in 0..2 * REQUESTS {
            let send = send.clone();
            threads.spawn(async move { send.send("request").unwrap() });
        }
        (0..2 * REQUESTS).for_each(|_| assert_eq!(result.recv().unwrap(), "request"));
        drop(end);
        assert_eq!(result.recv().unwrap(), "blocking");
    }

    #[test]
    fn names_have_addresses() {
        let threads = Threads::start().unwrap();
        let names = threads.names();
        let (send, result) = std::sync::mpsc::channel();
        threads.spawn(async move {
            let name = "localhost".parse().unwrap();
            let addresses = names.resolve(name).await.map(|found| found.count());
            send.send(addresses.unwrap_or_default()).unwrap();
        });
        assert!(result.recv().unwrap() > 0);
    }
}
