//! What a run may use.

use std::path::PathBuf;

use crate::kernel::Level;
use crate::{Error, ErrorKind, Result};

/// What a run may use; none of it changes a byte of the output.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Worker threads, at least one.
    pub threads: usize,
    /// Bound on anonymous memory in bytes. Mapped inputs are not counted: the system can take
    /// their pages back.
    pub memory_bytes: u64,
    /// Where temporary files go that take what memory has no room for.
    pub temporary: PathBuf,
    /// The instruction set of the kernels.
    pub level: Level,
}

/// Code, stacks, the hash table and other things that do not grow with the input.
const BASE_BYTES: u64 = 24 << 20;
/// Counters, windows and one unit's words of each thread.
const THREAD_BYTES: u64 = 20 << 20;

impl Resources {
    /// The least memory bound that `threads` threads can work in.
    pub fn least_memory_bytes(threads: usize) -> u64 {
        BASE_BYTES + threads as u64 * THREAD_BYTES
    }

    /// The bytes left for what grows with the input.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the bound is below [`Resources::least_memory_bytes`].
    pub(super) fn growing_bytes(&self) -> Result<u64> {
        let least = Resources::least_memory_bytes(self.threads);
        self.memory_bytes.checked_sub(least).ok_or_else(|| {
            let message = format!(
                "a memory bound of {} MiB is too small: {} threads need at least {} MiB",
                self.memory_bytes >> 20,
                self.threads,
                least.div_ceil(1 << 20),
            );
            Error::new(ErrorKind::Memory, message)
        })
    }
}
