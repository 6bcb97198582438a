//! Pairs that verification did not confirm: all are counted, the first of each document listed.

use std::sync::atomic::{AtomicU8, Ordering};

use bytemuck::{Pod, Zeroable};

use crate::Result;
use crate::engine::spill_space::SpillSpace;
use crate::io::{Sorted, Sorter};

use super::decision::Decision;
use super::memory;

/// The most listed pairs of a document. Pages of one template may all be near one another.
const LISTED: u8 = 20;

/// The refused pairs.
pub struct Refused {
    /// The listed pairs; none unless the job lists them.
    pub listed: Sorted<Decision>,
    /// The number of refused pairs, listed or not.
    pub count: u64,
}

impl Refused {
    /// No pairs.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn none(space: &SpillSpace<'_>) -> Result<Refused> {
        let none: Sorter<Decision> = space.sorter(memory::REFUSED);
        Ok(Refused {
            listed: none.finish()?,
            count: 0,
        })
    }
}

/// A refused pair that is listed.
///
/// Records sort by the later document, then by the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct ListedPair {
    /// The later document in keep order.
    pub document: u32,
    /// The earlier document.
    pub kept: u32,
    /// The ranks of both, the later document first.
    pub ranks: [u32; 2],
    /// The score of the method.
    pub score: [u32; 2],
}

/// The number of listed pairs of each rank, one byte each; empty if no pairs are listed.
///
/// Threads read it during verification, to report only pairs that may be listed.
pub struct ListedCounts(Vec<AtomicU8>);

impl ListedCounts {
    /// Zero for each of `count` ranks.
    pub fn new(count: u64) -> ListedCounts {
        let counts = (0..count).map(|_| AtomicU8::new(0));
        ListedCounts(counts.collect())
    }

    /// Whether another pair, whose later document has the rank `rank`, will be listed.
    pub fn admits(&self, rank: u64) -> bool {
        let count = self.0.get(rank as usize);
        count.is_some_and(|count| count.load(Ordering::Relaxed) < LISTED)
    }
}

/// Collects the listed pairs.
///
/// A document's listed pairs are those with the first documents in keep order. Its pairs have to
/// arrive in that order.
pub struct Refusals<'c> {
    counts: &'c ListedCounts,
    listed: Sorter<ListedPair>,
}

impl<'c> Refusals<'c> {
    /// No pairs so far.
    pub fn new(counts: &'c ListedCounts, space: &SpillSpace<'_>) -> Refusals<'c> {
        Refusals {
            counts,
            listed: space.sorter(memory::LISTED_PAIRS),
        }
    }

    /// Adds a pair, unless its later document has enough.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn push(&mut self, pair: ListedPair) -> Result<()> {
        if !self.counts.admits(pair.ranks[0].into()) {
            return Ok(());
        }
        self.counts.0[pair.ranks[0] as usize].fetch_add(1, Ordering::Relaxed);
        self.listed.push(pair)
    }

    /// The listed pairs, by document.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn finish(self) -> Result<Sorted<ListedPair>> {
        self.listed.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_first_pairs_of_each_document_are_listed(
            ranks in prop::collection::btree_set((0..1000u32, 1000..1009u32), 0..1500),
            newest_first in any::<bool>(),
            batch in 1..300usize,
            memory in 0..3usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let space = SpillSpace {
                directory: directory.path(),
                memory_bytes: [1 << 12, 1 << 16, 1 << 24][memory],
            };
            let number = |rank: u32| if newest_first { 1008 - rank } else { rank };
            let pair = |&(centre, member): &(u32, u32)| ListedPair {
                document: number(member),
                kept: number(centre),
                ranks: [member, centre],
                score: [centre % 7, 0],
            };
            // Pairs arrive centre by centre.
            let all: Vec<ListedPair> = ranks.iter().map(pair).collect();
            let mut expected = Vec::new();
            for member in 1000..1009 {
                let own = all.iter().filter(|pair| pair.ranks[0] == member);
                expected.extend(own.take(20).copied());
            }
            expected.sort_by_key(|pair| (pair.document, pair.kept));
            let counts = ListedCounts::new(1009);
            let mut refusals = Refusals::new(&counts, &space);
            for batch in all.chunks(batch) {
                // Counts do not change while a batch is verified.
                let is_told = |pair: &&ListedPair| counts.admits(pair.ranks[0].into());
                let told: Vec<ListedPair> = batch.iter().filter(is_told).copied().collect();
                told.into_iter().try_for_each(|pair| refusals.push(pair)).unwrap();
            }
            let found: Vec<ListedPair> = refusals.finish().unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
