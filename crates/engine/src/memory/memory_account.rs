//! Accounting of memory that is held for a whole run.

use crate::reading::pipeline::Pipeline;
use crate::{Budget, Resources};
use crate::{Error, ErrorKind, Result};

/// Memory of the program, its stacks and the Chinese dictionary.
const BASE_BYTES: u64 = 40 << 20;
/// Memory of a chunk that is read and processed, with the hashes of its words.
const CHUNK_BYTES: u64 = 4 << 20;
/// The memory of the longest document as a multiple of its size: raw bytes, text, word hashes.
const LONGEST_FACTOR: u64 = 8;

/// The part of a memory bound that reading does not need: one account for ids, sketches, indices,
/// texts and found pairs of all threads.
///
/// Memory that grows with the input is reserved before it grows, or in small steps while it grows.
#[derive(Debug)]
pub struct MemoryAccount {
    bound: u64,
    budget: Budget,
}

impl MemoryAccount {
    /// An account without reservations, for documents of up to `longest` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if reading alone exceeds the bound.
    pub fn new(resources: &Resources, longest: u64) -> Result<MemoryAccount> {
        let bound = resources.memory_bytes;
        let buffers = Pipeline::buffers(resources.threads, resources.threads) as u64;
        let longest = longest.saturating_mul(LONGEST_FACTOR);
        let reading = (BASE_BYTES + buffers * CHUNK_BYTES).saturating_add(longest);
        let rest = bound.checked_sub(reading).ok_or_else(|| {
            let message = format!(
                "a memory bound of {} MiB is too small: reading with {} threads needs {} MiB",
                bound >> 20,
                resources.threads,
                reading.div_ceil(1 << 20),
            );
            Error::new(ErrorKind::Memory, message)
        })?;
        Ok(MemoryAccount {
            bound,
            budget: Budget::new(rest),
        })
    }

    /// The bytes that are not reserved.
    pub fn free(&self) -> u64 {
        self.budget.free()
    }

    /// Reserves `bytes` for `what`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] with the bound and its free bytes, if there are too few.
    pub fn reserve(&self, bytes: usize, what: &str) -> Result<()> {
        let bytes = bytes as u64;
        let reservation = self.budget.reserve(bytes, 0);
        reservation
            .ok_or_else(|| self.exceeded(bytes, what))?
            .keep();
        Ok(())
    }

    /// The error for `what`, which needs at least `bytes` more.
    pub fn exceeded(&self, bytes: u64, what: &str) -> Error {
        let message = format!(
            "{what} do not fit in memory: they need at least {} MiB more, and of --memory {}M, {} \
             MiB are left besides reading and held data (give more memory, or fewer documents, \
             methods or matches at a time)",
            bytes.div_ceil(1 << 20),
            self.bound >> 20,
            self.free() >> 20,
        );
        Error::new(ErrorKind::Memory, message)
    }

    /// Releases `bytes` that were reserved.
    pub fn release(&self, bytes: usize) {
        self.budget.release(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::kernel::Level;

    fn resources(memory_bytes: u64) -> Resources {
        Resources {
            threads: 2,
            memory_bytes,
            temporary: "/tmp".into(),
            level: Level::Scalar,
        }
    }

    /// Promise (Bounded memory): `match`, `evaluate` and `tune` stay within …
    #[test]
    fn reservations_are_within_the_bound() {
        let account = MemoryAccount::new(&resources(100 << 20), 1 << 20).unwrap();
        let free = account.free();
        assert!(free > 0 && free < (100 << 20) - BASE_BYTES);
        account.reserve(free as usize, "sketches").unwrap();
        let error = account.reserve(1 << 20, "sketches").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        let text = error.to_string();
        assert!(text.starts_with("sketches do not fit"), "{text}");
        assert!(text.contains("--memory 100M, 0 MiB are left"), "{text}");
        account.release(10);
        account.reserve(10, "sketches").unwrap();
        assert!(account.reserve(usize::MAX, "sketches").is_err());
    }

    #[test]
    fn a_bound_that_reading_exceeds_is_refused() {
        let error = MemoryAccount::new(&resources(64 << 20), 16 << 20).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("64 MiB is too small"), "{text}");
        assert!(text.contains("needs 192 MiB"), "{text}");
        assert!(MemoryAccount::new(&resources(1 << 30), u64::MAX).is_err());
    }
}
