//! Minima of a set under many random orders, for MinHash.
//!
//! *Fast similarity sketching* (Dahlgaard, Knudsen and Thorup, FOCS 2017) fills `t` bins. In each
//! round, every value is hashed to one bin and to a number there; a bin keeps the smallest number of
//! the first round in which it got any. Rounds end when no bin is empty. In the first `t` rounds,
//! the bin is random; in round `t + i`, it is bin `i`, so that after `2 t` rounds all are full.
//!
//! A bin of two sets agrees with the probability of their Jaccard similarity, as a minimum under a
//! random permutation does, and the number of agreeing bins is concentrated as for independent
//! permutations. But a set of n values costs O(n + t log t) instead of O(n t): 1 hash for each value
//! of a large set instead of 208.
//!
//! Numbers are 32 bits of a hash, so that different values agree with a probability of 2^-32.

use std::ops::Range;

use ahash::AHashSet;

use crate::kernel::Level;
use crate::kernel::minima::{BINS, EMPTY, Throws, hash, key};

/// More different values than this for each bin hardly ever leave a bin empty in the first round.
const FEW: usize = 16;

/// A buffer that is reused from set to set.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    throws: Throws,
    /// The round and the number of each bin, 32 bits each, or [`EMPTY`]. So the number of an earlier
    /// round is less than all numbers of later ones.
    bins: Vec<u64>,
}

impl Bins {
    /// With the kernel of `level`, which does not change any result.
    pub fn new(level: Level) -> Bins {
        Bins {
            throws: Throws::new(level),
            bins: Vec::new(),
        }
    }

    /// Replaces `minima` by the numbers in `count` bins of the set of `values`, which may repeat;
    /// `u32::MAX` for an empty set.
    ///
    /// Deterministic, the same on every machine, and independent of the order of the values.
    /// O(values + count log count), expected.
    pub fn minima(&mut self, values: &[u64], count: usize, minima: &mut Vec<u32>) {
        let bins = &mut self.bins;
        bins.clear();
        bins.resize(count.max(BINS), EMPTY);
        if !values.is_empty() {
            let fill = |values: &[u64], rounds, bins: &mut [u64]| match bins.first_chunk_mut() {
                Some(bins) if count <= BINS => self.throws.fill(values, rounds, count, bins),
                _ => fill_many(values, rounds, &mut bins[..count]),
            };
            fill(values, 0..1, bins);
            // Few values, which repeat, leave bins empty for many rounds.
            let is_likely = values.len() > FEW * count && bins[..count].contains(&EMPTY);
            let distinct = match is_likely {
                true => at_most(FEW * count, values),
                false => Vec::new(),
            };
            let thrown = match distinct.is_empty() {
                true => values,
                false => &distinct,
            };
            fill(thrown, 1..count, bins);
            fill_rest(thrown, &mut bins[..count]);
        }
        minima.clear();
        minima.extend(bins[..count].iter().map(|&number| number as u32));
    }
}

/// The different `values` if there are at most `few`; otherwise nothing.
fn at_most(few: usize, values: &[u64]) -> Vec<u64> {
    let mut found = AHashSet::new();
    for value in values {
        if found.insert(*value) && found.len() > few {
            return Vec::new();
        }
    }
    found.into_iter().collect()
}

/// Throws `values` into more bins than the kernel takes, until none is empty.
fn fill_many(values: &[u64], rounds: Range<usize>, bins: &mut [u64]) {
    let count = bins.len() as u64;
    for round in rounds {
        if !bins.contains(&EMPTY) {
            break;
        }
        let (key, first) = (key(round), (round as u64) << 32);
        for value in values {
            let hash = hash(value ^ key);
            let bin = &mut bins[(((hash >> 32) * count) >> 32) as usize];
            *bin = (*bin).min(first | hash & 0xffff_ffff);
        }
    }
}

/// Gives each empty bin the smallest number of all values in its own round.
fn fill_rest(values: &[u64], bins: &mut [u64]) {
    let count = bins.len();
    for (place, bin) in bins.iter_mut().enumerate() {
        if *bin == EMPTY {
            let round = count + place;
            let (key, first) = (key(round), (round as u64) << 32);
            let numbers = values
                .iter()
                .map(|value| first | hash(value ^ key) & 0xffff_ffff);
            *bin = numbers.fold(*bin, u64::min);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    fn minima(values: &[u64], count: usize) -> Vec<u32> {
        // Buffers of another set change nothing.
        let (mut bins, mut minima) = (Bins::default(), vec![7; 3]);
        bins.minima(&[1, 2, 3], 5, &mut minima);
        bins.minima(values, count, &mut minima);
        minima
    }

    /// All values in all rounds, each bin with its least (round, number).
    fn definition(values: &[u64], count: usize) -> Vec<u32> {
        let mut bins = vec![(usize::MAX, u32::MAX); count];
        for round in 0..2 * count {
            let key = xxh3_64_with_seed(&(round as u64).to_le_bytes(), 3);
            for value in values {
                let product = u128::from(value ^ key) * 0x9e6c_63d0_876a_46ad;
                let hash = (product >> 64) as u64 ^ product as u64;
                let bin = match round < count {
                    true => ((u128::from(hash >> 32) * count as u128) >> 32) as usize,
                    false => round - count,
                };
                bins[bin] = bins[bin].min((round, hash as u32));
            }
        }
        bins.iter().map(|bin| bin.1).collect()
    }

    #[test]
    fn more_bins_than_a_byte_distinguishes() {
        let values: Vec<u64> = (0..30)
            .map(|number| xxh3_64_with_seed(&[number], 9))
            .collect();
        for count in [255, 256, 257, 300] {
            assert_eq!(minima(&values, count), definition(&values, count));
        }
    }

    proptest! {
        /// Promise (Deduplication): Minima agree as often as those of independent permutations, for
        /// sets of any size
        #[test]
        fn bins_are_the_definition(
            values in prop::collection::vec(any::<u64>(), 0..40),
            count in 1usize..40,
        ) {
            let found = minima(&values, count);
            prop_assert_eq!(&found, &definition(&values, count));
            let set: BTreeSet<u64> = values.iter().copied().collect();
            let descending: Vec<u64> = set.into_iter().rev().collect();
            prop_assert_eq!(&found, &minima(&descending, count));
            let often = values.repeat(FEW * count + 1);
            prop_assert_eq!(found, minima(&often, count));
        }
    }

    /// The mean and the variance of the share of agreeing bins are those of independent
    /// permutations, within five standard deviations, for sets of any size.
    /// Promise (Deduplication): Minima agree as often as those …
    #[test]
    fn shares_are_similarities() {
        const COUNT: usize = 208;
        const PAIRS: u64 = 400;
        for size in [1u64, 3, 10, 40, 100, 208, 400, 2000] {
            for percent in [10, 50, 80, 95] {
                let shared = size * percent / 100;
                let own = (size - shared).div_ceil(2);
                let similarity = shared as f64 / (shared + 2 * own) as f64;
                let shares: Vec<f64> = (0..PAIRS)
                    .map(|pair| {
                        // Other seeds than that of the keys.
                        let seed = 1000 + pair;
                        let value = |number: u64| xxh3_64_with_seed(&number.to_le_bytes(), seed);
                        let all: Vec<u64> = (0..shared + 2 * own).map(value).collect();
                        let a = minima(&all[..(shared + own) as usize], COUNT);
                        let b = [&all[..shared as usize], &all[(shared + own) as usize..]].concat();
                        let b = minima(&b, COUNT);
                        let equal = a.iter().zip(&b).filter(|(a, b)| a == b).count();
                        equal as f64 / COUNT as f64
                    })
                    .collect();
                let mean = shares.iter().sum::<f64>() / PAIRS as f64;
                let square = |share: &f64| (share - similarity).powi(2);
                let variance = shares.iter().map(square).sum::<f64>() / PAIRS as f64;
                let independent = similarity * (1.0 - similarity) / COUNT as f64;
                let error = 5.0 * (independent / PAIRS as f64).sqrt() + 1e-9;
                let what = format!("{size} values, similarity {similarity}");
                assert!((mean - similarity).abs() <= error, "{what}: {mean}");
                // A sample variance of 400 normal values has a relative standard error of 0.07.
                assert!(
                    variance <= 1.4 * independent + 1e-9,
                    "{what}: {variance} {independent}"
                );
            }
        }
    }
}
