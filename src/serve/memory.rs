//! Memory that callers fill, lent before it is filled and given back when they are answered.
//!
//! **Nobody waits for a loan while holding one.** A batch takes the loan of its next lines when it
//! has handed on those before, and a long line gets its own while it is small enough to need none.
//! Whoever holds one waits for a caller, who has limited time, for a thread, or for the writer, and
//! neither of these two borrows. So every loan comes back without another one, and whoever waits
//! gets his turn, in order.
//!
//! What grows with the number of requests alone is not lent: a document's parts beside its bytes,
//! the beginning of a line, answers that are short.

use std::sync::{Arc, Mutex, PoisonError};

use simtool::sketch::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory is lent in units of so many bytes.
const UNIT: usize = 1024;
/// What is kept of a document besides its bytes.
const DOCUMENT: usize = 256;
/// A set may have a hash of eight bytes for every two bytes of text, and its answer shows each of
/// its bytes as two digits.
const SWELL_OF_SETS: usize = 12;
/// Answers that wait for their callers may take this part of what is lent, on top of it.
const ANSWERS: usize = 4;
/// So many bytes of a body need no loan; of one whose document swells, fewer.
const SMALL: usize = 64 << 10;
const SMALL_OF_SETS: usize = 16 << 10;

/// What is lent.
pub struct Memory {
    /// In units.
    all: usize,
    bodies: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    /// Bytes of a sketch whose length is always the same.
    fixed: usize,
    /// So many bytes for each byte of a body.
    swell: usize,
}

/// Memory that somebody has.
#[derive(Debug, Default)]
pub struct Loan(Option<OwnedSemaphorePermit>);

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT).max(1)
}

impl Memory {
    /// So many bytes, for documents of an index of `method`.
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

    /// The bytes that a document of a body of so many bytes takes until it is answered.
    pub fn weight(&self, body: usize) -> usize {
        let swollen = body.saturating_mul(self.swell);
        swollen.saturating_add(DOCUMENT + self.fixed)
    }

    /// Bodies up to so many bytes need no loan, and of each longer one as many have arrived before
    /// there is a loan for it. So a client that claims a long body and sends little takes nothing
    /// from others.
    pub fn small(&self) -> usize {
        match self.swell {
            1 => SMALL,
            _ => SMALL_OF_SETS,
        }
    }

    /// Waits for so many bytes; all there are if that is more.
    pub async fn lend(&self, bytes: usize) -> Loan {
        let wanted = units(bytes).min(self.all);
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        // Nobody closes it, so that there is always something to be lent.
        let bodies = Arc::clone(&self.bodies);
        Loan(bodies.acquire_many_owned(wanted).await.ok())
    }

    /// Bytes that somebody has.
    pub fn lent(&self) -> usize {
        (self.all - self.bodies.available_permits()) * UNIT
    }

    /// So many bytes for an answer that waits for its caller, if there are any left.
    pub fn for_answer(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let wanted = u32::try_from(units(bytes)).ok()?;
        let answers = Arc::clone(&self.answers);
        answers.try_acquire_many_owned(wanted).ok()
    }

    /// Waits for so many bytes for an answer; all there are if that is more. May be waited for
    /// with a loan for a body, as no one waits for that with one for an answer.
    pub async fn lend_for_answer(&self, bytes: usize) -> Loan {
        let wanted = units(bytes).min((self.all / ANSWERS).max(1));
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let answers = Arc::clone(&self.answers);
        Loan(answers.acquire_many_owned(wanted).await.ok())
    }
}

impl Loan {
    /// Takes so many bytes out of this loan, or what is left of it.
    pub fn take(&mut self, bytes: usize) -> Loan {
        let Some(permit) = &mut self.0 else {
            return Loan(None);
        };
        let wanted = units(bytes).min(permit.num_permits());
        Loan(permit.split(wanted))
    }

    /// Gives all but so many bytes back.
    pub fn keep(&mut self, bytes: usize) {
        *self = self.take(bytes);
    }
}

/// A loan for a task, which may be given up while a thread works on it.
#[derive(Clone)]
pub struct Held(Arc<Mutex<Loan>>);

impl Held {
    /// All of `loan`.
    pub fn new(loan: Loan) -> Held {
        Held(Arc::new(Mutex::new(loan)))
    }

    /// Takes so many bytes out of it; none of a task that was given up.
    pub fn take(&self, bytes: usize) -> Loan {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(bytes)
    }

    /// Returns what is left.
    pub fn release(&self) {
        drop(std::mem::take(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::trial::{Trial, run};

    fn memory(bytes: usize, method: &str) -> Memory {
        Memory::new(bytes, Trial::of(method).seen().method())
    }

    #[test]
    fn loans_are_parted_and_come_back() {
        run(async {
            let memory = memory(10 * UNIT, "simhash");
            let mut loan = memory.lend(8 * UNIT).await;
            assert_eq!(memory.lent(), 8 * UNIT);
            let part = loan.take(3 * UNIT - 1);
            loan.keep(UNIT);
            assert_eq!(memory.lent(), 4 * UNIT);
            let beyond = loan.take(99 * UNIT);
            drop((loan, part));
            assert_eq!(memory.lent(), UNIT);
            drop(beyond);
            // More than there is waits for all of it.
            let all = memory.lend(usize::MAX).await;
            assert_eq!(memory.lent(), 10 * UNIT);
            drop(all);
            assert_eq!(memory.lent(), 0);
        });
    }

    #[test]
    fn sets_weigh_more_than_their_text() {
        let (bits, sets) = (memory(1, "simhash"), memory(1, "shingles"));
        assert!(bits.weight(1 << 20) < 2 << 20);
        assert!(sets.weight(1 << 20) > 8 << 20);
    }
}
