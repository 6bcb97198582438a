//! A sample of fingerprints, and the probabilities estimated from it.

use super::Fingerprint;
use super::blocks::ball;
use crate::kernel::Level;
use crate::kernel::hamming::Threshold;

/// The size of a sample: enough to see a collision among 2^23 pairs.
const SIZE: usize = 4096;

/// A stratified sample of fingerprints, masked to the width.
pub(super) struct FingerprintSample<F> {
    pub(super) values: Vec<F>,
}

impl<F: Fingerprint> FingerprintSample<F> {
    pub(super) fn of(fingerprints: &[F], threshold: Threshold<F>) -> Self {
        let places = places(fingerprints.len());
        FingerprintSample {
            values: places
                .map(|place| fingerprints[place] & threshold.mask)
                .collect(),
        }
    }

    /// The probability that two fingerprints agree in `mask`; at least that of uniform bits.
    pub(super) fn agreement(&self, mask: F) -> f64 {
        let mut keys: Vec<F> = self.values.iter().map(|value| *value & mask).collect();
        keys.sort_unstable();
        let count = keys.len() as f64;
        let pairs = count * (count - 1.0);
        let runs = keys.chunk_by(|a, b| a == b).map(|run| run.len() as f64);
        let agreeing: f64 = runs.map(|run| run * (run - 1.0)).sum();
        let uniform = 0.5f64.powi(mask.count_ones() as i32);
        (agreeing / pairs.max(1.0)).max(uniform)
    }

    /// The probability that two fingerprints are near; at least that of uniform bits.
    pub(super) fn nearness(&self, threshold: Threshold<F>) -> f64 {
        let scan = F::kernels(Level::best()).scan;
        let mut hits = Vec::new();
        let mut found = 0usize;
        // Every eighth member is a query: 2^21 pairs of a full sample, well under a millisecond.
        let queries = self.values.iter().step_by(8);
        let pairs = (queries.len() * (self.values.len().max(2) - 1)).max(1);
        for query in queries {
            hits.clear();
            scan(&self.values, *query, threshold, 0, &mut hits);
            // Without the query itself.
            found += hits.len() - 1;
        }
        (found as f64 / pairs as f64)
            .max(uniform_nearness(threshold.mask.count_ones(), threshold.k))
    }
}

/// The places of a sample of `count` fingerprints, ascending: one in each of equal parts, at a
/// pseudo-random position, so that periodic data do not bias it.
pub(super) fn places(count: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(SIZE);
    let border = move |i: usize| (i as u128 * count as u128 / taken as u128) as usize;
    (0..taken).map(move |i| {
        let part = border(i)..border(i + 1);
        part.start + (scramble(i as u64) % part.len() as u64) as usize
    })
}

/// The proportion of the 2^width fingerprints within `k` bits of any given one.
fn uniform_nearness(width: u32, k: u32) -> f64 {
    ball(width, k) / f64::from(width).exp2()
}

/// An estimate of the number of distinct fingerprints. Counts the distinct ones whose hash is in a
/// fixed part of its range, so that equal ones are either all counted or all skipped.
pub(super) fn distinct<F: Fingerprint>(fingerprints: &[F], threshold: Threshold<F>) -> usize {
    let sieve = (fingerprints.len() / SIZE).checked_ilog2().unwrap_or(0);
    let hash = |value: F| {
        let words = value.limbs().into_iter().rev();
        words.fold(0, |hash, word| scramble(word ^ hash))
    };
    let kept = |value: &F| hash(*value).trailing_zeros() >= sieve;
    let mut values: Vec<F> = (fingerprints.iter().map(|value| *value & threshold.mask))
        .filter(kept)
        .collect();
    values.sort_unstable();
    values.dedup();
    (values.len() << sieve).min(fingerprints.len())
}

/// The finaliser of SplitMix64: every output bit depends on every input bit.
fn scramble(bits: u64) -> u64 {
    let mixed = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::hamming::blocks::entropies;

    #[test]
    fn few_different_fingerprints_among_many_are_counted() {
        let threshold = Threshold {
            mask: u64::MAX,
            k: 3,
        };
        let scrambled = |i: u64| (i % 40_000).wrapping_mul(0x2545_F491_4F6C_DD1D);
        let repeated: Vec<u64> = (0..400_000).map(scrambled).collect();
        let count = distinct(&repeated, threshold);
        assert!((36_000..44_000).contains(&count), "{count}");
        assert_eq!(distinct(&[1u64, 1, 2], threshold), 2);
        assert_eq!(distinct::<u64>(&[], threshold), 0);
    }

    #[test]
    fn chances_of_uniform_bits() {
        assert_eq!(uniform_nearness(16, 3), 697.0 / 65536.0);
        assert_eq!(uniform_nearness(5, 5), 1.0);
        let threshold = Threshold {
            mask: u64::low_bits(8),
            k: 8,
        };
        let sample = FingerprintSample::of(&(0..=255).collect::<Vec<u64>>(), threshold);
        assert_eq!(sample.nearness(threshold), 1.0);
        assert_eq!(sample.agreement(0b1), 0.5);
        let entropies = entropies(&sample.values, 8);
        assert!(entropies.iter().all(|entropy| (entropy - 1.0).abs() < 1e-3));
    }
}
