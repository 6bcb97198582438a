//! The memory of documents that are held for a whole run, within its bound.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Resources;
use super::pipeline::Pipeline;
use crate::{Error, ErrorKind, Result};

/// The program, its stacks and the Chinese dictionary.
const BASE_BYTES: u64 = 40 << 20;
/// A chunk that is read and worked on, with the hashes of its words.
const CHUNK_BYTES: u64 = 4 << 20;
/// The longest document takes its raw bytes, its text, and the hashes of its words.
const LONGEST_FACTOR: u64 = 8;

/// What is left of a memory bound beside reading: one account for ids, sketches, indices, texts
/// and found pairs of all threads.
///
/// Whatever grows with the input is taken before, or in small steps while, it grows.
#[derive(Debug)]
pub struct Held {
    bound: u64,
    room: u64,
    taken: AtomicU64,
}

impl Held {
    /// Nothing taken yet; documents of up to `longest` bytes are read beside it.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if reading alone takes more than the bound.
    pub fn new(resources: &Resources, longest: u64) -> Result<Held> {
        let bound = resources.memory_bytes;
        let buffers = Pipeline::buffers(resources.threads, resources.threads) as u64;
        let longest = longest.saturating_mul(LONGEST_FACTOR);
        let reading = (BASE_BYTES + buffers * CHUNK_BYTES).saturating_add(longest);
        let room = bound.checked_sub(reading).ok_or_else(|| {
            let message = format!(
                "a memory bound of {} MiB is too small: reading with {} threads needs {} MiB",
                bound >> 20,
                resources.threads,
                reading.div_ceil(1 << 20),
            );
            Error::new(ErrorKind::Memory, message)
        })?;
        Ok(Held {
            bound,
            room,
            taken: AtomicU64::new(0),
        })
    }

    /// The bytes that are not taken.
    pub fn free(&self) -> u64 {
        self.room.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Takes `bytes` for `what`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] with the bound and what it leaves, if they are not free.
    pub fn take(&self, bytes: usize, what: &str) -> Result<()> {
        let bytes = bytes as u64;
        let more = |taken: u64| taken.checked_add(bytes).filter(|&all| all <= self.room);
        let order = Ordering::Relaxed;
        let taken = self.taken.fetch_update(order, order, more);
        taken.map(drop).map_err(|_| self.exceeded(bytes, what))
    }

    /// The error of `what`, which needs more than `bytes`.
    pub fn exceeded(&self, bytes: u64, what: &str) -> Error {
        let message = format!(
            "{what} do not fit in memory: they need at least {} MiB more, and of --memory {}M, {} \
             MiB are left beside reading and what is held (give more memory, or fewer documents, \
             methods or matches at a time)",
            bytes.div_ceil(1 << 20),
            self.bound >> 20,
            self.free() >> 20,
        );
        Error::new(ErrorKind::Memory, message)
    }

    /// Gives back `bytes` that were taken.
    pub fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;

    fn resources(memory_bytes: u64) -> Resources {
        Resources {
            threads: 2,
            memory_bytes,
            temporary: "/tmp".into(),
            level: Level::Scalar,
        }
    }

    #[test]
    fn what_is_taken_is_within_the_bound() {
        let held = Held::new(&resources(100 << 20), 1 << 20).unwrap();
        let free = held.free();
        assert!(free > 0 && free < (100 << 20) - BASE_BYTES);
        held.take(free as usize, "sketches").unwrap();
        let error = held.take(1 << 20, "sketches").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        let text = error.to_string();
        assert!(text.starts_with("sketches do not fit"), "{text}");
        assert!(text.contains("--memory 100M, 0 MiB are left"), "{text}");
        held.give(10);
        held.take(10, "sketches").unwrap();
        assert!(held.take(usize::MAX, "sketches").is_err());
    }

    #[test]
    fn a_bound_that_reading_exceeds_is_refused() {
        let error = Held::new(&resources(64 << 20), 16 << 20).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("64 MiB is too small"), "{text}");
        assert!(text.contains("needs 192 MiB"), "{text}");
        assert!(Held::new(&resources(1 << 30), u64::MAX).is_err());
    }
}
