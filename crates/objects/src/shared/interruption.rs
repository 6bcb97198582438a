//! The end of all waits of a client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};

/// The duration of a step of a wait.
pub(crate) const STEP: Duration = Duration::from_millis(50);

/// Whether the waits of a client end.
#[derive(Default)]
pub(crate) struct Interruption(AtomicBool);

impl Interruption {
    pub(crate) fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails after [`stop`](Self::stop).
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`].
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Interrupted, "interrupted")),
            false => Ok(()),
        }
    }
}
