//! A set of word hashes.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use super::features::little_endian;

/// A fixed set of 64-bit hashes: stop words, or the features that count.
///
/// Sorted, with the borders of the runs that share their highest bits: a lookup takes O(1) for
/// hashes as they come and O(log n) for any. 8 to 16 bytes a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSet {
    sorted: Vec<u64>,
    /// Where the hashes with each value of the highest bits begin; one more for the end.
    starts: Vec<u32>,
    shift: u32,
}

impl WordSet {
    /// The set of the given hashes, in any order.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 different ones.
    pub fn new(hashes: impl IntoIterator<Item = u64>) -> WordSet {
        let mut sorted: Vec<u64> = hashes.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(
            u32::try_from(sorted.len()).is_ok(),
            "{} hashes",
            sorted.len()
        );
        let bits = sorted.len().max(2).ilog2();
        let shift = u64::BITS - bits;
        let start = |run: u64| match run >> bits {
            0 => sorted.partition_point(|hash| hash >> shift < run) as u32,
            _ => sorted.len() as u32,
        };
        WordSet {
            starts: (0..=1 << bits).map(start).collect(),
            shift,
            sorted,
        }
    }

    /// Whether `hash` is in the set.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let run = (hash >> self.shift) as usize;
        let run = self.starts[run] as usize..self.starts[run + 1] as usize;
        self.sorted[run].binary_search(&hash).is_ok()
    }

    /// How many hashes there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

impl fmt::Display for WordSet {
    /// How many hashes, and the xxh3-64 hash of them all in ascending order: what a job compares.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            0 => out.write_str("none"),
            count => write!(
                out,
                "{count} with hash {:016x}",
                xxh3_64(&little_endian(&self.sorted))
            ),
        }
    }
}

impl Default for WordSet {
    fn default() -> WordSet {
        WordSet::new([])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_the_standard_set(
            hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64, (u64::MAX - 9)..], 0..200),
            others in prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64, (u64::MAX - 9)..], 0..50),
        ) {
            let set = WordSet::new(hashes.iter().copied());
            let oracle: BTreeSet<u64> = hashes.iter().copied().collect();
            prop_assert_eq!(set.len(), oracle.len());
            prop_assert_eq!(set.is_empty(), oracle.is_empty());
            for hash in hashes.iter().chain(&others).chain(&[0, u64::MAX]) {
                prop_assert_eq!(set.contains(*hash), oracle.contains(hash));
            }
        }
    }
}
