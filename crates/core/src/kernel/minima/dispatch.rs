//! The kernels of a level.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::round::BINS;
use super::scalar;
use crate::kernel::Level;

/// The kernel that throws values into bins; all levels give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Throws {
    fill: fn(&[u64], Range<usize>, usize, &mut [u64; BINS]),
}

impl Throws {
    /// The kernel of `level`; the scalar one without AVX-512.
    pub fn new(level: Level) -> Throws {
        Throws {
            fill: match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 if level.is_available() => |values, rounds, count, bins| {
                    // SAFETY: the guard checked that this processor has AVX-512.
                    unsafe { avx512::fill(values, rounds, count, bins) }
                },
                _ => scalar::fill,
            },
        }
    }

    /// Throws `values` into the first `count` bins, round by round, until none is empty. Each bin has the
    /// number of the round and the smallest number of its first round with any, 32 bits each, or
    /// [`EMPTY`](super::EMPTY). O(values) for each round.
    ///
    /// # Panics
    /// If `count` is more than [`BINS`].
    pub fn fill(&self, values: &[u64], rounds: Range<usize>, count: usize, bins: &mut [u64; BINS]) {
        assert!(count <= BINS, "{count} bins");
        (self.fill)(values, rounds, count, bins)
    }
}

/// The fastest kernel.
impl Default for Throws {
    fn default() -> Throws {
        Throws::new(Level::best())
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::{EMPTY, hash, key};
    use super::*;
    use proptest::prelude::*;

    /// Bins with the least (round, number) of all throws into them.
    fn definition(values: &[u64], rounds: Range<usize>, count: usize, bins: &mut [u64; BINS]) {
        for round in rounds {
            if !bins[..count].contains(&EMPTY) {
                break;
            }
            for value in values {
                let hash = hash(value ^ key(round));
                let bin = ((u128::from(hash >> 32) * count as u128) >> 32) as usize;
                bins[bin] = bins[bin].min((round as u64) << 32 | u64::from(hash as u32));
            }
        }
    }

    proptest! {
        #[test]
        fn levels_are_the_definition(
            values in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..40),
                prop::collection::vec(any::<u64>(), 500..1100),
            ],
            count in prop_oneof![1..9usize, 200..=BINS],
            rounds in 0..300usize,
            split in 0..9usize,
        ) {
            let mut expected = [EMPTY; BINS];
            definition(&values, 0..rounds, count, &mut expected);
            for level in Level::available() {
                let kernel = Throws::new(level);
                let mut bins = [EMPTY; BINS];
                kernel.fill(&values, 0..rounds, count, &mut bins);
                prop_assert_eq!(bins, expected);
                // In two calls.
                let split = split.min(rounds);
                let mut bins = [EMPTY; BINS];
                kernel.fill(&values, 0..split, count, &mut bins);
                kernel.fill(&values, split..rounds, count, &mut bins);
                prop_assert_eq!(bins, expected);
            }
        }
    }
}
