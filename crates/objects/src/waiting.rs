//! Waiting for requests, which can be ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};

/// The duration of a step of a wait.
pub(crate) const STEP: Duration = Duration::from_millis(50);

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Ends all waits of this process, present and future ones, with [`ErrorKind::Interrupted`].
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Allows waits after [`stop`] again.
pub fn resume() {
    STOPPED.store(false, Ordering::Relaxed);
}

/// Fails after [`stop`].
///
/// # Errors
/// [`ErrorKind::Interrupted`].
pub(crate) fn check() -> Result<()> {
    match STOPPED.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
        false => Ok(()),
    }
}

/// The result of a request.
///
/// # Errors
/// Errors of the request; [`ErrorKind::Interrupted`] after [`stop`].
pub(crate) fn wait<T>(receiver: &Receiver<Result<T>>) -> Result<T> {
    loop {
        match receiver.recv_timeout(STEP) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => check()?,
            Err(RecvTimeoutError::Disconnected) => {
                let message = "a request ended without an answer";
                return Err(Error::new(ErrorKind::Read, message));
            }
        }
    }
}
