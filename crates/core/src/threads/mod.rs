//! Threads that the system may refuse.
//!
//! All threads of simtool are started here. A refused thread is an error that names the limit, not
//! a panic: containers and users often have a limit on the number of threads.

mod limits;

use std::error::Error as _;
use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Error, ErrorKind, Result};

/// Starts a thread with a name of at most 15 bytes.
///
/// # Errors
/// [`refused`].
pub fn start<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    let started = Builder::new().name(name.into()).spawn(work);
    started.map_err(|cause| refused(1, cause))
}

/// Starts a thread that ends with `scope`.
///
/// # Errors
/// [`refused`]. Threads of the scope that wait for this one must be told.
pub fn start_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let started = Builder::new().name(name.into()).spawn_scoped(scope, work);
    started.map_err(|cause| refused(1, cause))
}

/// Starts a pool for parallel iterators. Its threads end with it.
///
/// # Errors
/// [`refused`]; then no thread of the pool remains.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let built = builder
        .thread_name(|number| format!("pool-{number}"))
        .build();
    built.map_err(|cause| refused(threads as u64, io::Error::other(cause)))
}

/// Starts the pool of the process, which parallel iterators outside of pools use, unless it runs.
///
/// # Errors
/// [`refused`]. Without this call, such an iterator panics if the system refuses a thread.
pub fn start_shared_pool(threads: usize) -> Result<()> {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    match builder.build_global() {
        Err(cause) if cause.source().is_some() => {
            Err(refused(threads as u64, io::Error::other(cause)))
        }
        _ => Ok(()),
    }
}

/// The error of `threads` threads that the system does not start: [`ErrorKind::Memory`], with the
/// limit that was reached and what to do.
pub fn refused(threads: u64, cause: io::Error) -> Error {
    let what = match threads {
        1 => "cannot start a thread".to_owned(),
        _ => format!("cannot start {threads} threads"),
    };
    let limits = limits::reached(threads);
    let message = format!("{what}: {limits} (use fewer --threads, or raise the limit)");
    Error::new(ErrorKind::Memory, message).caused_by(cause)
}
