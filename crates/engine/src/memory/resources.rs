//! Resources of a run.

use std::path::PathBuf;

use crate::{Error, ErrorKind, Result};
use simtool_core::kernel::Level;

/// Resources of a run; none of them affects the output.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Worker threads, at least one.
    pub threads: usize,
    /// The bound on anonymous memory in bytes. Mapped inputs do not count, as the system can
    /// reclaim their pages.
    pub memory_bytes: u64,
    /// The directory for temporary files.
    pub temporary: PathBuf,
    /// The instruction set of the kernels.
    pub level: Level,
}

/// Memory of the main job that does not grow with the input: code, stacks, the hash table.
const BASE_BYTES: u64 = 24 << 20;
/// Memory of a thread: counters, windows and the words of a unit.
const THREAD_BYTES: u64 = 20 << 20;

impl Resources {
    /// The least memory bound of the main job with `threads` threads.
    pub fn least_memory_bytes(threads: usize) -> u64 {
        BASE_BYTES + threads as u64 * THREAD_BYTES
    }

    /// The main job's bytes for data that grows with the input.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the bound is below [`Resources::least_memory_bytes`].
    pub fn growing_bytes(&self) -> Result<u64> {
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
