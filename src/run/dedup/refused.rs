//! Pairs that verification did not confirm: all are counted, the first of each document listed.

use std::sync::atomic::{AtomicU8, Ordering};

use bytemuck::{Pod, Zeroable};

use crate::Result;
use crate::io::{Sorted, Sorter};
use crate::run::room::Room;

use super::decision::Decision;

/// Refused pairs of a document that are listed: pages of one template are all near one another.
const LISTED: u8 = 20;

/// What was refused.
pub struct Refused {
    /// The pairs that are listed; none, if that is not asked for.
    pub listed: Sorted<Decision>,
    /// How many there are, listed or not.
    pub count: u64,
}

impl Refused {
    /// Nothing.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn nothing(room: &Room<'_>) -> Result<Refused> {
        let none: Sorter<Decision> = room.sorter(64);
        Ok(Refused {
            listed: none.finish()?,
            count: 0,
        })
    }
}

/// A pair that is listed.
///
/// Records sort by the later document, then by the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Listed {
    /// The later document in keep order.
    pub document: u32,
    /// The earlier one.
    pub kept: u32,
    /// The ranks of both.
    pub ranks: [u32; 2],
    /// What the method says of the two.
    pub score: [u32; 2],
}

/// For each rank, how many of its document's pairs are listed: a byte each, or nothing if none is to
/// be listed.
///
/// Threads read them while pairs are refused, so as not to tell of pairs that will not be listed.
pub struct Counts(Vec<AtomicU8>);

impl Counts {
    /// Of `count` ranks, none listed.
    pub fn new(count: u64) -> Counts {
        let counts = (0..count).map(|_| AtomicU8::new(0));
        Counts(counts.collect())
    }

    /// Whether another pair of the later document of a rank will be listed.
    pub fn admits(&self, rank: u64) -> bool {
        let count = self.0.get(rank as usize);
        count.is_some_and(|count| count.load(Ordering::Relaxed) < LISTED)
    }
}

/// Collects the pairs that are listed.
///
/// Of a document's pairs, those with the first documents in keep order are. Its pairs have to come
/// in that order, so that the first are also the first to come.
pub struct Refusals<'c> {
    counts: &'c Counts,
    listed: Sorter<Listed>,
}

impl<'c> Refusals<'c> {
    /// None so far; takes a sixteenth of the room.
    pub fn new(counts: &'c Counts, room: &Room<'_>) -> Refusals<'c> {
        Refusals {
            counts,
            listed: room.sorter(16),
        }
    }

    /// Adds a pair, unless enough of its document are there.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn push(&mut self, pair: Listed) -> Result<()> {
        if !self.counts.admits(pair.ranks[0].into()) {
            return Ok(());
        }
        self.counts.0[pair.ranks[0] as usize].fetch_add(1, Ordering::Relaxed);
        self.listed.push(pair)
    }

    /// The pairs that are listed, by document.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn finish(self) -> Result<Sorted<Listed>> {
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
        fn the_first_of_each_document_in_keep_order_are_listed(
            ranks in prop::collection::btree_set((0..1000u32, 1000..1009u32), 0..1500),
            newest_first in any::<bool>(),
            batch in 1..300usize,
            memory in 0..3usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let room = Room {
                directory: directory.path(),
                memory_bytes: [1 << 12, 1 << 16, 1 << 24][memory],
            };
            let number = |rank: u32| if newest_first { 1008 - rank } else { rank };
            let pair = |&(centre, member): &(u32, u32)| Listed {
                document: number(member),
                kept: number(centre),
                ranks: [member, centre],
                score: [centre % 7, 0],
            };
            // Centre after centre, as they come.
            let all: Vec<Listed> = ranks.iter().map(pair).collect();
            let mut expected = Vec::new();
            for member in 1000..1009 {
                let own = all.iter().filter(|pair| pair.ranks[0] == member);
                expected.extend(own.take(20).copied());
            }
            expected.sort_by_key(|pair| (pair.document, pair.kept));
            let counts = Counts::new(1009);
            let mut refusals = Refusals::new(&counts, &room);
            for batch in all.chunks(batch) {
                // Nobody counts while a batch is judged.
                let is_told = |pair: &&Listed| counts.admits(pair.ranks[0].into());
                let told: Vec<Listed> = batch.iter().filter(is_told).copied().collect();
                told.into_iter().try_for_each(|pair| refusals.push(pair)).unwrap();
            }
            let found: Vec<Listed> = refusals.finish().unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
