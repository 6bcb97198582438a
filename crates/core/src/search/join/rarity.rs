//! Approximate counts of features, for an order by rarity.

/// Multiplicative hash that spreads features over the counters, even small integers.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Approximate counts of the sketches that have each feature; features may share a counter.
///
/// Counters saturate at 65 535. Errors are harmless: prefix filtering needs one order, not the
/// exact one.
pub(crate) struct Rarity {
    shift: u32,
    counts: Vec<u16>,
}

impl Rarity {
    /// Memory per feature: there are no more counters than features.
    pub(crate) const BYTES: usize = size_of::<u16>();

    /// Counters for `features` features in all sketches together.
    pub(crate) fn new(features: usize) -> Rarity {
        let bits = features.checked_ilog2().unwrap_or(0).max(1);
        Rarity {
            shift: u64::BITS - bits,
            counts: vec![0; 1 << bits],
        }
    }

    fn counter(&self, feature: u64) -> usize {
        (feature.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    pub(crate) fn count(&mut self, feature: u64) {
        let counter = self.counter(feature);
        self.counts[counter] = self.counts[counter].saturating_add(1);
    }

    /// The approximate count of a feature: smaller for rarer ones.
    pub(crate) fn of(&self, feature: u64) -> u16 {
        self.counts[self.counter(feature)]
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.counts[..])
    }
}
