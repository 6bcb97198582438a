//! Pairs that verification did not confirm: all are counted, the first of each document listed.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::{Pod, Zeroable};
use rayon::slice::ParallelSliceMut;

use crate::Result;
use crate::io::{Sorted, Sorter};
use crate::run::room::Room;

use super::decision::Decision;

/// Refused pairs of a document that are listed: pages of one template are all near one another.
const LISTED: usize = 20;
/// Pairs that are held before it is looked at whether they are listed.
const HELD: usize = 1 << 16;

/// What was refused.
pub struct Refused {
    /// The pairs that are listed.
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

/// A pair that may be listed; of a document's pairs, those with the smallest numbers are.
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

/// For each rank, the number from which on other documents are not listed with it.
///
/// They only ever fall, and may be too high at any time: threads read them while pairs are
/// refused, so as not to tell of pairs that will not be listed.
pub struct Bounds(Vec<AtomicU32>);

impl Bounds {
    /// Of `count` ranks, all as high as can be.
    pub fn new(count: u64) -> Bounds {
        let bounds = (0..count).map(|_| AtomicU32::new(u32::MAX));
        Bounds(bounds.collect())
    }

    /// Whether a document may be listed with that of a rank.
    pub fn admits(&self, rank: u64, number: u32) -> bool {
        number < self.0[rank as usize].load(Ordering::Relaxed)
    }
}

/// Collects pairs, in any order, and keeps those that are listed.
pub struct Refusals<'b> {
    bounds: &'b Bounds,
    held: Vec<Listed>,
    /// How many to hold before the next look.
    most: usize,
    /// How many there is memory for.
    limit: usize,
    set_aside: Sorter<Listed>,
}

impl<'b> Refusals<'b> {
    /// None so far; takes a sixteenth of the room.
    pub fn new(bounds: &'b Bounds, room: &Room<'_>) -> Refusals<'b> {
        let limit = (room.memory_bytes / 32 / size_of::<Listed>()).max(1);
        Refusals {
            bounds,
            held: Vec::new(),
            most: HELD.min(limit),
            limit,
            set_aside: room.sorter(32),
        }
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn push(&mut self, pair: Listed) -> Result<()> {
        if self.held.len() >= self.most {
            self.thin_out()?;
        }
        self.held.push(pair);
        Ok(())
    }

    /// Drops what is not listed for sure, and notes from where on that will be so.
    fn thin_out(&mut self) -> Result<()> {
        self.held.par_sort_unstable();
        let (mut kept, mut start) = (0, 0);
        while start < self.held.len() {
            let document = self.held[start].document;
            let rest = &self.held[start..];
            let run = rest.iter().take_while(|pair| pair.document == document);
            let end = start + run.count();
            let listed = start..end.min(start + LISTED);
            if listed.len() == LISTED {
                let last = self.held[listed.end - 1];
                self.bounds.0[last.ranks[0] as usize].store(last.kept, Ordering::Relaxed);
            }
            self.held.copy_within(listed.clone(), kept);
            kept += listed.len();
            start = end;
        }
        self.held.truncate(kept);
        if 2 * kept > self.limit {
            self.held
                .drain(..)
                .try_for_each(|pair| self.set_aside.push(pair))?;
        }
        self.most = (2 * kept).max(HELD).min(self.limit);
        Ok(())
    }

    /// The pairs that are listed, by document.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn finish(mut self) -> Result<impl Iterator<Item = Result<Listed>>> {
        self.thin_out()?;
        self.held
            .drain(..)
            .try_for_each(|pair| self.set_aside.push(pair))?;
        let (mut current, mut count) = (None, 0);
        Ok(self.set_aside.finish()?.filter(move |pair| {
            let Ok(pair) = pair else { return true };
            if current != Some(pair.document) {
                (current, count) = (Some(pair.document), 0);
            }
            count += 1;
            count <= LISTED
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_first_of_each_document_are_listed(
            pairs in prop::collection::btree_set((0..9u32, 0..1000u32), 0..1500),
            order in any::<u64>(),
            memory in 0..3usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let room = Room {
                directory: directory.path(),
                memory_bytes: [1 << 12, 1 << 16, 1 << 24][memory],
            };
            // Ranks run against the numbers.
            let pair = |&(document, kept): &(u32, u32)| Listed {
                document,
                kept,
                ranks: [8 - document, kept],
                score: [kept % 7, 0],
            };
            let all: Vec<Listed> = pairs.iter().map(pair).collect();
            let mut expected = Vec::new();
            for run in all.chunk_by(|a, b| a.document == b.document) {
                expected.extend(run.iter().take(LISTED));
            }
            let mut shuffled = all;
            shuffled.sort_by_key(|pair| {
                let number = u64::from(pair.document) << 32 | u64::from(pair.kept);
                (number ^ order).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
            let bounds = Bounds::new(9);
            let mut refusals = Refusals::new(&bounds, &room);
            refusals.most = refusals.most.min(200);
            for pair in shuffled {
                if bounds.admits(pair.ranks[0].into(), pair.kept) {
                    refusals.push(pair).unwrap();
                }
            }
            let found: Vec<Listed> = refusals.finish().unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
