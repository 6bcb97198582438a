//! A memory budget, from which bytes are reserved before they are allocated.

use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that the stages of a run share.
#[derive(Debug)]
pub struct Budget {
    free: AtomicU64,
}

/// Bytes reserved from a [`Budget`], released when dropped.
#[derive(Debug)]
pub struct Reservation<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// A budget of `bytes`, all free.
    pub fn new(bytes: u64) -> Budget {
        Budget {
            free: AtomicU64::new(bytes),
        }
    }

    /// The bytes that are not reserved.
    pub fn free(&self) -> u64 {
        self.free.load(Ordering::Relaxed)
    }

    /// Releases `bytes` of reservations that were [kept](Reservation::keep).
    pub fn release(&self, bytes: u64) {
        self.free.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reserves `bytes` if at least `leave` bytes remain free.
    pub fn reserve(&self, bytes: u64, leave: u64) -> Option<Reservation<'_>> {
        let take = |free: u64| free.checked_sub(bytes).filter(|&rest| rest >= leave);
        let taken = self
            .free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.is_ok().then(|| Reservation {
            budget: self,
            bytes,
        })
    }
}

impl Reservation<'_> {
    /// Keeps the bytes reserved until they are [released](Budget::release).
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Bounded memory): Reserved memory is released
    #[test]
    fn dropped_reservations_are_released() {
        let budget = Budget::new(100);
        let taken = budget.reserve(60, 40);
        assert!(taken.is_some());
        assert_eq!(budget.free(), 40);
        assert!(budget.reserve(41, 0).is_none());
        assert!(budget.reserve(1, 40).is_none());
        drop(taken);
        assert_eq!(budget.free(), 100);
    }

    #[test]
    fn kept_reservations_are_released_by_their_bytes() {
        let budget = Budget::new(100);
        budget.reserve(60, 0).unwrap().keep();
        assert_eq!(budget.free(), 40);
        budget.release(50);
        assert_eq!(budget.free(), 90);
    }
}
