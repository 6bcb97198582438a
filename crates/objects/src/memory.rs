//! The memory for bytes of objects that are not being used yet: ranges read ahead, and small objects
//! that are kept.

use std::sync::atomic::{AtomicU64, Ordering};

/// The memory, unless it is set.
pub const PREFETCH_BYTES: u64 = 256 << 20;

/// The maximum number of bytes.
static MAX: AtomicU64 = AtomicU64::new(PREFETCH_BYTES);
/// The bytes that are taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// The taken bytes of small objects: at most half of all.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// The memory for the objects of listings.
static LISTING: AtomicU64 = AtomicU64::new(1 << 30);
/// What the objects of listings take that this process knows.
static LISTED: AtomicU64 = AtomicU64::new(0);

/// Sets the memory that the objects of all listings may take; more objects are an error.
pub fn set_listing_bytes(bytes: u64) {
    LISTING.store(bytes, Ordering::Relaxed);
}

/// The memory that the objects of all listings may take.
pub(crate) fn listing_bytes() -> u64 {
    LISTING.load(Ordering::Relaxed)
}

/// The memory that the objects of earlier listings take.
pub(crate) fn listed_bytes() -> u64 {
    LISTED.load(Ordering::Relaxed)
}

/// Sets the memory that the objects of earlier listings take.
pub(crate) fn set_listed_bytes(bytes: u64) {
    LISTED.store(bytes, Ordering::Relaxed);
}

/// A part of the memory, which is returned when it is dropped.
pub(crate) struct Memory {
    bytes: u64,
    is_kept: bool,
}

/// Sets the memory.
pub(crate) fn set(bytes: u64) {
    MAX.store(bytes, Ordering::Relaxed);
}

/// All the memory.
pub(crate) fn all() -> u64 {
    MAX.load(Ordering::Relaxed)
}

/// Whether small objects have more than their half.
pub(crate) fn is_exceeded() -> bool {
    KEPT.load(Ordering::Relaxed) > max_kept_bytes()
}

/// Some of the memory for a range, if there is enough.
pub(crate) fn take(bytes: u64) -> Option<Memory> {
    add(&TAKEN, bytes, all()).then_some(Memory {
        bytes,
        is_kept: false,
    })
}

/// Some of the memory for a small object, if there is enough.
pub(crate) fn keep(bytes: u64) -> Option<Memory> {
    let mut memory = take(bytes)?;
    memory.is_kept = add(&KEPT, bytes, max_kept_bytes());
    memory.is_kept.then_some(memory)
}

/// The maximum number of bytes of small objects that are kept.
pub fn max_kept_bytes() -> u64 {
    all() / 2
}

/// Adds `bytes` to a count, unless it would be more than `most`.
fn add(count: &AtomicU64, bytes: u64, most: u64) -> bool {
    let sum = |count: u64| count.checked_add(bytes).filter(|sum| *sum <= most);
    let added = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    added.is_ok()
}

impl Drop for Memory {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.bytes, Ordering::Relaxed);
        if self.is_kept {
            KEPT.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}
