//! Work in threads of its own, which Ctrl-C stops.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use simtool::engine::{Progress, Workers};
use simtool::io::remote::Client;
use simtool::threads::start_scoped;

use crate::error::{exception, internal_error};

/// The interval between checks for signals.
const SIGNALS: Duration = Duration::from_millis(5);
/// The interval between calls of a watcher.
const WATCH: Duration = Duration::from_millis(100);

/// Runs `work` in a thread without the interpreter, and waits. `work` gets a client of its own,
/// with the environment of this moment.
///
/// Ctrl-C, and an exception of the function `watch`, stop `progress` and the client; the exception
/// is raised when `work` has ended. A panic becomes an exception. `watch` is called with the name
/// of the stage, the work done and the work to do. No thread is left behind, so the process may
/// fork afterwards.
///
/// # Errors
/// Errors of `work`; the exception of a signal handler or of `watch`; that of a thread that cannot be
/// started.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: &Arc<Progress>,
    watch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Client) -> simtool::Result<T> + Send,
) -> PyResult<T> {
    let caller = thread::current();
    let client = Client::new();
    let own = &client;
    thread::scope(|scope| {
        let worker = start_scoped(scope, "simtool", move || {
            // Data that a panic leaves incomplete is dropped, never used.
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(own)));
            caller.unpark();
            result
        });
        let worker = worker.map_err(|error| exception(&error))?;
        let mut stopped = None;
        let mut last = Instant::now();
        while !worker.is_finished() {
            py.detach(|| thread::park_timeout(SIGNALS));
            if stopped.is_some() {
                continue;
            }
            let mut checked = py.check_signals();
            if let (Ok(()), Some(watch)) = (&checked, watch)
                && last.elapsed() >= WATCH
            {
                last = Instant::now();
                checked = report(progress, watch);
            }
            if let Err(error) = checked {
                progress.stop();
                client.stop();
                stopped = Some(error);
            }
        }
        match (stopped, worker.join()) {
            (Some(error), _) => Err(error),
            (None, Ok(Ok(result))) => result.map_err(|error| exception(&error)),
            (None, Ok(Err(_)) | Err(_)) => Err(internal_error()),
        }
    })
}

fn report(progress: &Progress, watch: &Bound<'_, PyAny>) -> PyResult<()> {
    match progress.current() {
        None => Ok(()),
        Some(now) => watch
            .call1((now.stage.name(), now.done, now.total))
            .map(drop),
    }
}

/// Runs `work` in a pool of `threads` threads of its own, which ends with it.
///
/// The pool of the process is not used, as its threads do not survive a fork.
///
/// # Errors
/// Errors of `work`; [`ErrorKind::Memory`](simtool::ErrorKind::Memory) if the threads do not start.
pub fn in_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> simtool::Result<T> + Send,
) -> simtool::Result<T> {
    Workers::new(threads)?.install(work)
}

/// The requested number of threads, or one for each processor.
pub fn threads(requested: Option<usize>) -> simtool::Result<usize> {
    match requested {
        Some(threads @ 1..=1024) => Ok(threads),
        Some(threads) => {
            let message = format!("threads {threads}: expected a whole number from 1 to 1024");
            Err(simtool::Error::new(simtool::ErrorKind::Parameter, message))
        }
        None => Ok(thread::available_parallelism().map_or(1, usize::from)),
    }
}
