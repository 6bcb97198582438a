//! Bitmaps of sets: a filter for pairs that cannot be similar.
//!
//! A set is represented by its size and a bitmap in which each element flips one bit. Every bit
//! in which two bitmaps differ was flipped by at least one element that only one of the sets has.
//! So the sizes and the Hamming distance give an upper bound on the overlap. Source: Sandes,
//! Teodoro, Melo, "Bitmap filter: Speeding up exact set similarity joins with bitwise operations",
//! Information Systems 88, 2020.

use crate::kernel::Level;
use crate::kernel::bitmaps::{Distances, MAX_WORDS, distances};
use crate::text::LeastSimilarity;

/// Distances computed at a time.
const BATCH: usize = 256;

/// The bitmaps of sets 0, 1, …
pub struct SetBitmaps {
    words: usize,
    bitmaps: Vec<u64>,
    sizes: Vec<u32>,
    distances: Distances,
}

impl SetBitmaps {
    /// The number of 64-bit words for the bitmaps of `count` sets of `mean` elements each: a power
    /// of two with at least two bits for each element, or less to stay within 32 words and
    /// `memory_bytes` for all bitmaps. `None` if even one word for each exceeds `memory_bytes`.
    pub fn words(count: u64, mean: u64, memory_bytes: usize) -> Option<usize> {
        let wanted = (2 * mean).div_ceil(64).clamp(1, MAX_WORDS as u64);
        let mut words = wanted.next_power_of_two() as usize;
        let bytes = |words| count as u128 * SetBitmaps::bytes_per_set(words) as u128;
        while bytes(words) > memory_bytes as u128 {
            if words == 1 {
                return None;
            }
            words /= 2;
        }
        Some(words)
    }

    /// The memory in bytes of a set whose bitmap has `words` words.
    pub const fn bytes_per_set(words: usize) -> usize {
        words * size_of::<u64>() + size_of::<u32>()
    }

    /// The filter from bitmaps and sizes made by [`fill`](Self::fill); `bitmaps` has `words` words
    /// for each set.
    ///
    /// # Panics
    /// If the lengths do not match, or `words` is not a power of two up to 32.
    pub fn new(words: usize, bitmaps: Vec<u64>, sizes: Vec<u32>, level: Level) -> SetBitmaps {
        assert!(words.is_power_of_two() && words <= MAX_WORDS);
        assert_eq!(bitmaps.len(), words * sizes.len());
        SetBitmaps {
            words,
            bitmaps,
            sizes,
            distances: distances(level),
        }
    }

    /// Flips the bit of each hash of `set` in `bitmap`, which must be zero; returns the size of the
    /// set.
    pub fn fill(set: &[u64], bitmap: &mut [u64]) -> u32 {
        let mask = 64 * bitmap.len() as u64 - 1;
        for hash in set {
            let bit = hash & mask;
            bitmap[(bit / 64) as usize] ^= 1 << (bit % 64);
        }
        u32::try_from(set.len()).unwrap_or(u32::MAX)
    }

    /// Appends those of `others` whose similarity to `set`, the first of the two, may reach `least`,
    /// in their order. Never leaves out one that does.
    pub fn filter(
        &self,
        set: u64,
        others: &[u64],
        least: LeastSimilarity,
        possible: &mut Vec<u64>,
    ) {
        let bitmap = &self.bitmaps[set as usize * self.words..][..self.words];
        let size = self.sizes[set as usize];
        let mut distances = [0; BATCH];
        for others in others.chunks(BATCH) {
            let distances = &mut distances[..others.len()];
            (self.distances)(bitmap, &self.bitmaps, others, distances);
            for (other, distance) in others.iter().zip(distances) {
                let sizes = (size, self.sizes[*other as usize]);
                if least.may_be_reached(sizes, *distance) {
                    possible.push(*other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Measure;
    use crate::text::shingles::sort_to_set;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// Sets of a common part and individual parts, with hashes that map to few bits or many.
    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let hash = prop_oneof![
            any::<u64>(),
            0..300u64,
            (0..300u64).prop_map(|hash| hash << 40)
        ];
        let hashes = move |most: usize| prop::collection::vec(hash.clone(), 0..most);
        let own = prop::collection::vec((hashes(60), 0..50usize), 1..12);
        (hashes(300), own).prop_map(|(common, own)| {
            let set = |(own, removed): (Vec<u64>, usize)| {
                let mut set = [&common[removed.min(common.len())..], &own].concat();
                sort_to_set(&mut set);
                set
            };
            own.into_iter().map(set).collect()
        })
    }

    fn bitmaps_of(sets: &[Vec<u64>], words: usize, level: Level) -> SetBitmaps {
        let mut bitmaps = vec![0; words * sets.len()];
        let drawn = sets.iter().zip(bitmaps.chunks_mut(words));
        let sizes = drawn
            .map(|(set, bitmap)| SetBitmaps::fill(set, bitmap))
            .collect();
        SetBitmaps::new(words, bitmaps, sizes, level)
    }

    proptest! {
        #[test]
        fn similar_sets_stay(
            sets in sets(),
            words in 0..6u32,
            thousandths in 1..=1000u32,
            is_containment in any::<bool>(),
        ) {
            let all: Vec<u64> = (0..sets.len() as u64).collect();
            let measure = [Measure::Resemblance, Measure::Containment][usize::from(is_containment)];
            for level in Level::available() {
                let filter = bitmaps_of(&sets, 1 << words, level);
                for (number, set) in (0..).zip(&sets) {
                    // Thresholds at the similarity of a pair, and just below and above it.
                    let exact = sets.iter().filter_map(|other| {
                        let (shared, of) = measure.similarity(set, other);
                        (of > 0).then(|| (1000 * shared / of) as u32)
                    });
                    let around = exact.flat_map(|exact| [exact.saturating_sub(1), exact, exact + 1]);
                    for least in around.chain([thousandths]).map(|least| least.clamp(1, 1000)) {
                        let mut possible = Vec::new();
                        let at_least = LeastSimilarity { measure, thousandths: least };
                        filter.filter(number, &all, at_least, &mut possible);
                        prop_assert!(possible.is_sorted());
                        for (other, of_other) in all.iter().zip(&sets) {
                            let (shared, of) = measure.similarity(set, of_other);
                            let reaches = of > 0 && shared * 1000 >= of * u64::from(least);
                            prop_assert!(!reaches || possible.contains(other));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pages_of_a_template_are_left_out() {
        // 150 shingles in common and 60 of each page alone: 0.56 of all.
        let set = |page: u64| {
            let hash = |number: u64| xxh3_64(&number.to_le_bytes());
            let common = (1..=150).map(hash);
            let mut set: Vec<u64> = common
                .chain((1..=60).map(|own| hash(1000 * page + own)))
                .collect();
            sort_to_set(&mut set);
            set
        };
        let sets: Vec<Vec<u64>> = (1..400).map(set).collect();
        let all: Vec<u64> = (0..sets.len() as u64).collect();
        let words = SetBitmaps::words(sets.len() as u64, 210, 1 << 20).unwrap();
        assert_eq!(words, 8);
        let filter = bitmaps_of(&sets, words, Level::best());
        let mut possible = Vec::new();
        let least = LeastSimilarity::resemblance(800);
        all.iter()
            .for_each(|set| filter.filter(*set, &all, least, &mut possible));
        assert!(possible == all, "only the set itself");
    }

    #[test]
    fn memory_decides_how_many_words() {
        let words = |memory| SetBitmaps::words(1000, 200, memory);
        assert_eq!(words(68_000), Some(8));
        assert_eq!(words(67_999), Some(4));
        assert_eq!(words(12_000), Some(1));
        assert_eq!(words(11_999), None);
        assert_eq!(SetBitmaps::words(0, 0, 0), Some(1));
        assert_eq!(SetBitmaps::words(1, 1 << 40, 1 << 20), Some(MAX_WORDS));
    }
}
