//! A set of word hashes.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use super::shingles::little_endian;
use crate::kernel::members::{MemberTable, Members};

/// A fixed set of 64-bit hashes, such as stop words or selected features.
///
/// Look-ups have no branch ([`members`](crate::kernel::members)). Sets whose low bits collide too
/// often for a table use binary search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordSet {
    sorted: Vec<u64>,
    table: Option<MemberTable>,
}

impl WordSet {
    /// The set of the given hashes, in any order. O(n log n) time.
    pub fn new(hashes: impl IntoIterator<Item = u64>) -> WordSet {
        let mut sorted: Vec<u64> = hashes.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        WordSet {
            table: MemberTable::new(&sorted),
            sorted,
        }
    }

    /// Whether `hash` is in the set.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        match &self.table {
            Some(table) => table.contains(hash),
            None => self.sorted.binary_search(&hash).is_ok(),
        }
    }

    /// Which of `hashes`, at most [`BATCH`](crate::kernel::members::BATCH), are in the set, as bits, the first one lowest.
    #[inline]
    pub fn find(&self, members: &Members, hashes: &[u64]) -> u64 {
        match &self.table {
            Some(table) => members.find(table, hashes),
            None => hashes.iter().zip(0..).fold(0, |found, (hash, place)| {
                found | u64::from(self.contains(*hash)) << place
            }),
        }
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
    use crate::kernel::Level;
    use crate::kernel::members::BATCH;
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
            let asked: Vec<u64> = hashes.iter().chain(&others).chain(&[0, u64::MAX]).copied().collect();
            let members = Members::new(Level::best());
            for asked in asked.chunks(BATCH) {
                let found = set.find(&members, asked);
                for (place, hash) in asked.iter().enumerate() {
                    prop_assert_eq!(set.contains(*hash), oracle.contains(hash));
                    prop_assert_eq!(found >> place & 1 == 1, oracle.contains(hash));
                }
                prop_assert_eq!(u128::from(found) >> asked.len(), 0);
            }
        }
    }

    #[test]
    fn hashes_alike_in_their_low_bits_are_told_apart() {
        let set = WordSet::new((0..100).map(|number| number << 40));
        assert!(set.table.is_none());
        assert!((0..200).all(|number| set.contains(number << 40) == (number < 100)));
        let members = Members::new(Level::best());
        assert_eq!(
            set.find(&members, &[0, 1 << 39, 99 << 40, 100 << 40]),
            0b101
        );
        assert!(!set.contains(1));
    }

    #[test]
    fn any_number_of_hashes() {
        for count in [0, 1, 2, 3, 5, 1000] {
            let hash = |number: u64| xxh3_64(&number.to_le_bytes());
            let set = WordSet::new((0..count).map(hash));
            assert!(set.table.is_some());
            assert!((0..2000).all(|number| set.contains(hash(number)) == (number < count)));
        }
    }
}
