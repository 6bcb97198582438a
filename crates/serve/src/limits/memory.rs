//! Memory for bodies and answers: reserved before use, released after the answer.
//!
//! **No task waits for memory for a body while it holds a reservation.** A batch reserves memory
//! for its next lines after it has handed on the lines before. A long line gets its reservation
//! while it is short enough to need none. A task that holds a reservation waits only for memory for
//! an answer, a client (with a time limit), a thread or the writer. Threads and the writer reserve
//! nothing. So waiting cannot deadlock. Waiting tasks are served in order.
//!
//! Memory that is bounded by the number of requests is not reserved: the fixed parts of a document,
//! the beginning of a line, short answers.

use std::sync::{Arc, Mutex, PoisonError};

use simtool_core::sketch::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit of reservations in bytes.
const UNIT: usize = 1024;
/// Memory of a document besides its bytes.
const DOCUMENT: usize = 256;
/// Memory for each byte of text if sketches are sets: two bytes of text give eight bytes of hashes,
/// which are 16 digits in the answer.
const SWELL_OF_SETS: usize = 12;
/// Pending answers get additional memory: the memory for bodies divided by this.
const ANSWERS: usize = 4;
/// The first bytes of a body need no reservation; fewer for methods that make sets.
const SMALL: usize = 64 << 10;
const SMALL_OF_SETS: usize = 16 << 10;

/// The memory of a service.
#[derive(Clone)]
pub struct Memory {
    /// In units.
    all: usize,
    bodies: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    /// Bytes of a sketch, if all sketches have the same length.
    fixed: usize,
    /// Bytes of memory for each byte of a body.
    swell: usize,
}

/// Reserved memory, released on drop.
#[derive(Debug, Default)]
pub struct Reserved(Option<OwnedSemaphorePermit>);

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

impl Memory {
    /// `bytes` bytes, for documents of an index of `method`.
    pub fn new(bytes: usize, method: &dyn Method) -> Memory {
        let all = (bytes / UNIT).max(1);
        let length = method.sketch_bytes();
        Memory {
            all,
            bodies: Arc::new(Semaphore::new(all)),
            answers: Arc::new(Semaphore::new((all / ANSWERS).max(1))),
            fixed: length.unwrap_or(0),
            swell: length.map_or(SWELL_OF_SETS, |_| 1),
        }
    }

    /// The memory for a body of `body` bytes until it is answered.
    pub fn weight(&self, body: usize) -> usize {
        let swollen = body.saturating_mul(self.swell);
        swollen.saturating_add(DOCUMENT + self.fixed)
    }

    /// The bytes of a body that need no reservation. Memory for a longer body is reserved when this
    /// many bytes have arrived, so that a client that announces a long body and sends little takes
    /// no memory from others.
    pub fn small(&self) -> usize {
        match self.swell {
            1 => SMALL,
            _ => SMALL_OF_SETS,
        }
    }

    /// Waits for `bytes` bytes, at most all there are.
    pub async fn reserve(&self, bytes: usize) -> Reserved {
        let wanted = units(bytes).min(self.all);
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let bodies = Arc::clone(&self.bodies);
        Reserved(bodies.acquire_many_owned(wanted).await.ok())
    }

    /// The number of bytes that are reserved for bodies.
    pub fn reserved(&self) -> usize {
        (self.all - self.bodies.available_permits()) * UNIT
    }

    /// `bytes` bytes for an answer that waits for its client, if they are free.
    pub fn for_answer(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = u32::try_from(units(bytes)).ok()?;
        let answers = Arc::clone(&self.answers);
        answers.try_acquire_many_owned(wanted).ok()
    }

    /// Waits for `bytes` bytes for an answer, at most all there are. The caller may hold memory for
    /// a body, because no task waits for that while it holds memory for an answer.
    pub async fn reserve_for_answer(&self, bytes: Option<usize>) -> Reserved {
        let Some(bytes) = bytes else {
            return Reserved::default();
        };
        let wanted = units(bytes).min((self.all / ANSWERS).max(1));
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let answers = Arc::clone(&self.answers);
        Reserved(answers.acquire_many_owned(wanted).await.ok())
    }
}

impl Reserved {
    /// Splits off `bytes` bytes, or all if there are fewer.
    pub fn take(&mut self, bytes: usize) -> Reserved {
        let Some(permit) = &mut self.0 else {
            return Reserved(None);
        };
        let wanted = units(bytes).min(permit.num_permits());
        Reserved(permit.split(wanted))
    }

    /// Releases all but `bytes` bytes.
    pub fn keep(&mut self, bytes: usize) {
        *self = self.take(bytes);
    }
}

/// Memory of a task that may be cancelled while a thread works on it.
#[derive(Clone)]
pub struct TaskMemory(Arc<Mutex<Reserved>>);

impl TaskMemory {
    /// All of `reservation`.
    pub fn new(reservation: Reserved) -> TaskMemory {
        TaskMemory(Arc::new(Mutex::new(reservation)))
    }

    /// Splits off `bytes` bytes; none after cancellation.
    pub fn take(&self, bytes: usize) -> Reserved {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(bytes)
    }

    /// Releases the rest.
    pub fn release(&self) {
        drop(std::mem::take(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_service::{TestService, run};

    fn memory(bytes: usize, method: &str) -> Memory {
        Memory::new(bytes, TestService::of(method).seen().method())
    }

    #[test]
    fn reservations_are_split_and_released() {
        run(async {
            let memory = memory(10 * UNIT, "simhash");
            let mut reservation = memory.reserve(8 * UNIT).await;
            assert_eq!(memory.reserved(), 8 * UNIT);
            let part = reservation.take(3 * UNIT - 1);
            reservation.keep(UNIT);
            assert_eq!(memory.reserved(), 4 * UNIT);
            let beyond = reservation.take(99 * UNIT);
            drop((reservation, part));
            assert_eq!(memory.reserved(), UNIT);
            drop(beyond);
            // A request for more than all memory waits for all of it.
            let all = memory.reserve(usize::MAX).await;
            assert_eq!(memory.reserved(), 10 * UNIT);
            drop(all);
            assert_eq!(memory.reserved(), 0);
        });
    }

    #[test]
    fn sets_weigh_more_than_their_text() {
        let (bits, sets) = (memory(1, "simhash"), memory(1, "shingles"));
        assert!(bits.weight(1 << 20) < 2 << 20);
        let mut trial = TestService::of("simhash");
        trial.has_sets = true;
        let with_sets = Memory::new(1, trial.seen().method());
        for of in [sets, with_sets] {
            assert!(of.weight(1 << 20) > 8 << 20);
        }
    }
}
