//! A set of word hashes.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use super::shingles::little_endian;

/// The number of slots in which a hash may be.
const WINDOW: usize = 4;
/// The maximum number of slots per hash to which the table grows until every hash fits.
const MOST_SLOTS: usize = 64;

/// A fixed set of 64-bit hashes, such as stop words or selected features.
///
/// A lookup compares four adjacent slots of a table without a branch, since about every other word
/// of a text is a stop word. Sets whose low bits collide too often for a table use binary search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSet {
    sorted: Vec<u64>,
    /// A power of two of slots and the rest of the last window; empty if no table fits.
    slots: Vec<u64>,
    /// The value of an empty slot: a hash that is not in the set.
    empty: u64,
}

impl WordSet {
    /// The set of the given hashes, in any order. O(n log n) time.
    pub fn new(hashes: impl IntoIterator<Item = u64>) -> WordSet {
        let mut sorted: Vec<u64> = hashes.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let in_order = sorted
            .iter()
            .zip(0..)
            .take_while(|(hash, number)| **hash == *number);
        let empty = in_order.count() as u64;
        let least = (4 * sorted.len()).next_power_of_two();
        let sizes = std::iter::successors(Some(least), |size| Some(2 * size));
        let mut sizes = sizes.take_while(|&size| size <= (MOST_SLOTS * sorted.len()).max(least));
        let slots = sizes.find_map(|size| table(&sorted, size, empty));
        WordSet {
            slots: slots.unwrap_or_default(),
            sorted,
            empty,
        }
    }

    /// Whether `hash` is in the set.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let Some(mask) = self.slots.len().checked_sub(WINDOW) else {
            return self.sorted.binary_search(&hash).is_ok();
        };
        let first = hash as usize & mask;
        let window = &self.slots[first..first + WINDOW];
        let found = window
            .iter()
            .fold(false, |found, slot| found | (*slot == hash));
        found & (hash != self.empty)
    }

    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.sorted
    }

    /// The number of hashes.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// A table of `size` slots with each hash in its window; `None` if one does not fit.
fn table(hashes: &[u64], size: usize, empty: u64) -> Option<Vec<u64>> {
    let mut slots = vec![empty; size + WINDOW - 1];
    for &hash in hashes {
        let first = hash as usize & (size - 1);
        let free = slots[first..first + WINDOW]
            .iter_mut()
            .find(|slot| **slot == empty)?;
        *free = hash;
    }
    Some(slots)
}

impl fmt::Display for WordSet {
    /// The number of hashes, and the xxh3-64 hash of all in ascending order, by which jobs are
    /// compared.
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

    #[test]
    fn hashes_alike_in_their_low_bits_are_told_apart() {
        let set = WordSet::new((0..100).map(|number| number << 40));
        assert!(set.slots.is_empty());
        assert!((0..200).all(|number| set.contains(number << 40) == (number < 100)));
        assert!(!set.contains(1));
    }

    #[test]
    fn any_number_of_hashes() {
        for count in [0, 1, 2, 3, 5, 1000] {
            let hash = |number: u64| xxh3_64(&number.to_le_bytes());
            let set = WordSet::new((0..count).map(hash));
            assert!(!set.slots.is_empty());
            assert!((0..2000).all(|number| set.contains(hash(number)) == (number < count)));
        }
    }
}
