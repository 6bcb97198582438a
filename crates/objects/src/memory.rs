//! The memory for bytes that are read ahead, over all objects.

use std::sync::atomic::{AtomicU64, Ordering};

/// The memory, unless it is set.
pub const PREFETCH_BYTES: u64 = 64 << 20;

/// The bytes that may still be read ahead.
static FREE: AtomicU64 = AtomicU64::new(PREFETCH_BYTES);

/// Sets the memory for bytes that are read ahead, before any object is read. Each open object holds one
/// range beside it in any case: that which is being read.
pub fn set_prefetch_bytes(bytes: u64) {
    FREE.store(bytes, Ordering::Relaxed);
}

/// Takes some of the memory, if there is enough.
pub(crate) fn take(bytes: u64) -> bool {
    let rest = |free: u64| free.checked_sub(bytes);
    let taken = FREE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
    taken.is_ok()
}

/// Returns what [`take`] took.
pub(crate) fn give_back(bytes: u64) {
    FREE.fetch_add(bytes, Ordering::Relaxed);
}
