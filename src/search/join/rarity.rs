/// Spreads features over the counters; odd, as any feature may be a number of a few bits.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// How common features are: how many sketches have one, and those that share its counter.
///
/// Two features may share a counter and counters stop at 65 535: an order by rarity need not be
/// right to be one order.
pub(super) struct Rarity {
    shift: u32,
    counts: Vec<u16>,
}

impl Rarity {
    /// What a feature of a sketch takes: there are no more counters than features.
    pub(super) const BYTES: usize = size_of::<u16>();

    /// For so many features of all sketches.
    pub(super) fn new(features: usize) -> Rarity {
        let bits = features.checked_ilog2().unwrap_or(0).max(1);
        Rarity {
            shift: u64::BITS - bits,
            counts: vec![0; 1 << bits],
        }
    }

    fn place(&self, feature: u64) -> usize {
        (feature.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    pub(super) fn count(&mut self, feature: u64) {
        let place = self.place(feature);
        self.counts[place] = self.counts[place].saturating_add(1);
    }

    /// Smaller for rarer ones.
    pub(super) fn of(&self, feature: u64) -> u16 {
        self.counts[self.place(feature)]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.counts[..])
    }
}
