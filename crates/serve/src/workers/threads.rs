//! The threads of the service: those of connections, and how all of them end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use simtool_core::threads::start;
use simtool_core::{Error, ErrorKind, Result};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

/// The interval of the checks whether a thread has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Waits for a thread until the deadline.
pub fn join(thread: JoinHandle<()>, deadline: Instant) {
    while !thread.is_finished() && Instant::now() < deadline {
        sleep(LOOK);
    }
    if thread.is_finished() {
        let _ = thread.join();
    }
}

/// A runtime whose tasks run in the calling thread while it waits.
///
/// # Errors
/// [`ErrorKind::Memory`] if the system refuses file descriptors.
pub fn runtime() -> Result<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|cause| {
        let message = "cannot wait for connections";
        Error::new(ErrorKind::Memory, message).caused_by(cause)
    })
}

/// Threads for connections, each with a runtime of its own.
///
/// A runtime of several threads panics if the system refuses the first one, and runs without the
/// others.
pub struct ConnectionThreads {
    threads: Vec<ConnectionThread>,
    next: AtomicUsize,
}

struct ConnectionThread {
    runtime: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl ConnectionThreads {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// Errors of [`start`] and [`runtime`].
    pub fn start(count: usize) -> Result<ConnectionThreads> {
        let each = |number| {
            let own = runtime()?;
            let runtime = own.handle().clone();
            let (end, ended) = oneshot::channel();
            let thread = start(format!("connections-{number}"), move || {
                // The sender is dropped when the service ends.
                let _: Option<()> = own.block_on(ended).ok();
            })?;
            Ok(ConnectionThread {
                runtime,
                end,
                thread,
            })
        };
        Ok(ConnectionThreads {
            threads: (0..count).map(each).collect::<Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Runs a task in one of the threads, which take turns.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.threads.len().max(1);
        if let Some(thread) = self.threads.get(number) {
            thread.runtime.spawn(task);
        }
    }

    /// Cancels all tasks, and waits for the threads until the deadline.
    pub fn end(self, deadline: Instant) {
        let ends = self
            .threads
            .into_iter()
            .map(|ConnectionThread { end, thread, .. }| {
                drop(end);
                thread
            });
        let threads: Vec<_> = ends.collect();
        threads
            .into_iter()
            .for_each(|thread| join(thread, deadline));
    }
}
