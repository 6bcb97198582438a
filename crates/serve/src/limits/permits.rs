//! Permits, which bound the number of requests under way.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Held by a request until it is answered; a batch holds it to its end.
pub type RequestPermit = Arc<OwnedSemaphorePermit>;

/// Held by an addition, a removal, a batch or a copy. At most half of the requests have one,
/// so that the other half remains for single questions.
#[derive(Debug)]
pub struct SlowPermit(#[expect(dead_code, reason = "released on drop")] OwnedSemaphorePermit);

/// The permits of a service.
pub struct Permits {
    pub requests: Arc<Semaphore>,
    pub slow: Arc<Semaphore>,
    copies: Arc<Semaphore>,
}

impl Permits {
    /// For at most `requests` requests at once, and one copy.
    pub fn new(requests: usize) -> Permits {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Permits {
            requests: semaphore(requests),
            slow: semaphore((requests / 2).max(1)),
            copies: semaphore(1),
        }
    }

    /// A permit, unless there are too many requests.
    pub fn request(&self) -> Result<RequestPermit, Problem> {
        let permit = Arc::clone(&self.requests).try_acquire_owned();
        permit.map(Arc::new).map_err(|_| Problem::busy())
    }

    /// A permit, unless there are too many requests that may take long.
    pub fn slow(&self) -> Result<SlowPermit, Problem> {
        let permit = Arc::clone(&self.slow).try_acquire_owned();
        permit.map(SlowPermit).map_err(|_| Problem::crowded())
    }

    /// A permit, unless another copy is being made.
    pub fn copy(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.copies).try_acquire_owned();
        permit.map_err(|_| Problem::copying())
    }
}
