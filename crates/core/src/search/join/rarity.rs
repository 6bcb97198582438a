//! Approximate counts of features, for an order by rarity.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Multiplicative hash that spreads features over the counters, even small integers.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Approximate counts of the sketches that have each feature; features may share a counter.
///
/// Counters saturate at 65 535. Errors are harmless: prefix filtering needs one order, not the
/// exact one.
pub(crate) struct Rarity {
    shift: u32,
    counts: Vec<AtomicU16>,
}

impl Rarity {
    /// Memory per feature: there are no more counters than features.
    pub(crate) const BYTES: usize = size_of::<u16>();

    /// Counters for `features` features in all sketches together.
    pub(crate) fn new(features: usize) -> Rarity {
        let bits = features.checked_ilog2().unwrap_or(0).max(1);
        Rarity {
            shift: u64::BITS - bits,
            counts: (0..1 << bits).map(|_| AtomicU16::new(0)).collect(),
        }
    }

    fn counter(&self, feature: u64) -> usize {
        (feature.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    /// Counts a feature; several threads may do so.
    pub(crate) fn count(&self, feature: u64) {
        let counter = &self.counts[self.counter(feature)];
        // At its maximum, the counter does not change and the update fails, which is no error here.
        let _ = counter.fetch_update(Relaxed, Relaxed, |count| count.checked_add(1));
    }

    /// The approximate count of a feature: smaller for rarer ones.
    pub(crate) fn of(&self, feature: u64) -> u16 {
        self.counts[self.counter(feature)].load(Relaxed)
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.counts[..])
    }
}
