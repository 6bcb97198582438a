//! Named threads of the service.

use std::io;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use simtool::{Error, ErrorKind, Result};

/// The interval of the checks whether a thread has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Starts a thread.
pub fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    Builder::new().name(name).spawn(work).map_err(not_started)
}

/// The error of threads that the system refuses.
pub fn not_started(cause: io::Error) -> Error {
    Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause)
}

/// Waits for a thread until the deadline.
pub fn join(thread: JoinHandle<()>, deadline: Instant) {
    while !thread.is_finished() && Instant::now() < deadline {
        sleep(LOOK);
    }
    if thread.is_finished() {
        let _ = thread.join();
    }
}
