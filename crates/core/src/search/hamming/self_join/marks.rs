//! A set of positions that threads add to.

use std::sync::atomic::{AtomicU64, Ordering};

/// A set of positions below a bound, one bit each. Threads may share it.
#[derive(Debug)]
pub struct Marks(Vec<AtomicU64>);

impl Marks {
    /// The empty set of positions below `count`.
    pub fn none_of(count: u32) -> Marks {
        let words = (count as usize).div_ceil(64);
        Marks((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a position if it is below the bound.
    #[inline]
    pub fn insert(&self, position: u32) {
        let bit = 1 << (position % 64);
        // Most positions are added several times, and a load disturbs no other thread.
        if let Some(word) = self.0.get(position as usize / 64)
            && word.load(Ordering::Relaxed) & bit == 0
        {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether a position is in the set; never if it is not below the bound.
    #[inline]
    pub fn contains(&self, position: u32) -> bool {
        let word = self.0.get(position as usize / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (position % 64) & 1 == 1)
    }
}
