//! Connected components: copies of copies are copies.
//!
//! Documents whose pairs verify are joined, and with them whoever is joined to either; the first
//! document of a component in keep order stays. A long chain of small differences can tie
//! strangers together, which is why [`star`](super::star) is the rule, and why the
//! [largest](Components::largest) components are worth a look.
//!
//! A pair whose documents are joined already is not compared.

use super::gather::{Gatherer, Pair};
use super::union_find::UnionFind;
use super::{Documents, Event, Outcome, Parallel, Verdict};
use crate::search::join::SketchIndex;
use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;

/// Documents that ask at a time.
const BATCH: usize = 1024;
/// Pairs that are held at a time.
const PAIRS: usize = 1 << 18;
/// Pairs that a thread compares at a time.
const COMPARED: usize = 8;

/// Which documents are joined.
///
/// Holds eight bytes for each, for those of all blocks at once.
pub struct Components {
    joined: UnionFind,
    /// What would be joined if all that is being compared verified.
    hoped: UnionFind,
    gatherer: Gatherer,
    batch: usize,
    pairs: usize,
}

/// A component: the rank of its first document, and how many it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// The rank of the document that stays.
    pub first: u64,
    /// How many documents there are, with that one.
    pub size: u64,
}

/// A pair under comparison, by rank.
struct Compared {
    pair: Pair,
    ranks: (u64, u64),
    verdict: Option<Result<Verdict>>,
}

impl Components {
    /// `count` documents of ranks 0, 1, …, none joined.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there are more than `u32::MAX`.
    pub fn new(count: u64) -> Result<Components> {
        let known = u32::try_from(count).map_err(|_| {
            let message = format!("{count} documents: components hold at most {}", u32::MAX);
            Error::new(ErrorKind::Parameter, message)
        })?;
        Ok(Components {
            joined: UnionFind::new(known),
            hoped: UnionFind::new(known),
            gatherer: Gatherer::default(),
            batch: BATCH,
            pairs: PAIRS,
        })
    }

    /// The same with other batches, which change no component.
    #[must_use]
    pub fn with_batches(mut self, documents: usize, pairs: usize) -> Components {
        self.batch = documents.max(1);
        self.pairs = pairs.max(1);
        self
    }

    /// Joins documents of the block that `index` stands over with `earlier` ones.
    ///
    /// `block` are the documents of the index. `verify(earlier, later)` is called with ranks, for
    /// pairs that are not joined. `refused` gets what did not verify; of these, the pairs that are
    /// not [joined](Self::are_joined) after the last block are always the same, and the others
    /// depend on the batches.
    ///
    /// # Errors
    /// The first of `verify` or `refused`.
    pub fn join_with(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        earlier: &Documents<'_>,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        refused: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let numbers: Vec<u32> = earlier.numbers().collect();
        for numbers in numbers.chunks(self.batch) {
            let behind = |_| 0;
            self.join(
                (index, block),
                earlier,
                numbers,
                behind,
                parallel,
                verify,
                refused,
            )?;
        }
        Ok(())
    }

    /// Joins documents of a block with one another; a batch at a time, from position `from` on:
    /// returns where the next one begins, or the number of documents.
    ///
    /// The arguments are those of [`join_with`](Self::join_with).
    ///
    /// # Errors
    /// The first of `verify` or `refused`.
    pub fn step(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        from: u32,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        refused: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<u32> {
        let numbers: Vec<u32> = (from..block.count()).take(self.batch).collect();
        let behind = |number| number + 1;
        self.join(
            (index, block),
            block,
            &numbers,
            behind,
            parallel,
            verify,
            refused,
        )?;
        Ok(from + numbers.len() as u32)
    }

    /// Whether two documents are in one component.
    pub fn are_joined(&self, a: u64, b: u64) -> bool {
        self.joined.root(a as u32) == self.joined.root(b as u32)
    }

    /// The first document, in keep order, of the component of one.
    pub fn first(&self, rank: u64) -> u64 {
        self.joined.root(rank as u32).into()
    }

    /// The `most` largest components, by size, then by rank; none of a single document.
    pub fn largest(&self, most: usize) -> Vec<Component> {
        let count = self.joined.count();
        let mut sizes = vec![0u32; count as usize];
        for rank in 0..count {
            sizes[self.joined.root(rank) as usize] += 1;
        }
        let several = sizes.iter().zip(0..).filter(|(size, _)| **size > 1);
        let mut components: Vec<Component> = several
            .map(|(size, first)| Component {
                first,
                size: (*size).into(),
            })
            .collect();
        components.sort_unstable_by_key(|component| (Reverse(component.size), component.first));
        components.truncate(most);
        components
    }

    /// Lets the documents that `asking` has under `numbers` be joined with what is near them at
    /// and behind the position that `behind` gives.
    #[allow(clippy::too_many_arguments)]
    fn join(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        asking: &Documents<'_>,
        numbers: &[u32],
        behind: impl Fn(u32) -> u32,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        refused: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let (mut from, count) = (0, block.count());
        let limit = (self.pairs / numbers.len().max(1)).max(1);
        while from < count && !numbers.is_empty() {
            let joined = &self.joined;
            let is_wanted = |Pair { member, centre }: Pair| {
                let ranks = (asking.rank(centre) as u32, block.rank(member) as u32);
                block.partition(member) == asking.partition(centre)
                    && joined.root(ranks.0) != joined.root(ranks.1)
            };
            let range = |number: &u32| (*number, from.max(behind(*number))..count);
            let queries = numbers.iter().map(range);
            let (next, pairs) = self
                .gatherer
                .gather(index, asking, queries, limit, is_wanted, parallel);
            let compared = |pair: &Pair| Compared {
                pair: *pair,
                ranks: (asking.rank(pair.centre), block.rank(pair.member)),
                verdict: None,
            };
            let mut rest: Vec<Compared> = pairs.iter().map(compared).collect();
            let mut hopeful = true;
            while !rest.is_empty() {
                let (mut chosen, later) = self.choose(rest, hopeful);
                compare(&mut chosen, parallel, verify);
                let all = chosen.len();
                let mut verified = 0;
                for Compared {
                    pair,
                    ranks,
                    verdict,
                } in chosen
                {
                    let Some(verdict) = verdict.transpose()? else {
                        continue;
                    };
                    let (a, b) = (asking.sketch(pair.centre), block.sketch(pair.member));
                    let score = index.method().score(a, b);
                    let event = Event::new(ranks.0, ranks.1, score, verdict);
                    if event.outcome == Outcome::Verified {
                        verified += 1;
                        self.joined.union(ranks.0 as u32, ranks.1 as u32);
                    } else {
                        refused(event)?;
                    }
                }
                // Where most are refused, hope only costs rounds.
                hopeful = 2 * verified >= all;
                rest = later;
            }
            from = next;
        }
        Ok(())
    }

    /// Drops pairs that are joined, and puts off those that would be if the chosen ones before
    /// them verified, if one is so hopeful.
    fn choose(&mut self, pairs: Vec<Compared>, hopeful: bool) -> (Vec<Compared>, Vec<Compared>) {
        let (mut chosen, mut later) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        for pair in pairs {
            let a = self.joined.root(pair.ranks.0 as u32);
            let b = self.joined.root(pair.ranks.1 as u32);
            if a == b {
                continue;
            }
            touched.extend([a, b]);
            if self.hoped.union(a, b) || !hopeful {
                chosen.push(pair);
            } else {
                later.push(pair);
            }
        }
        for root in touched {
            self.hoped.reset(root);
        }
        (chosen, later)
    }
}

fn compare(
    pairs: &mut [Compared],
    parallel: &impl Parallel,
    verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
) {
    let mut tasks: Vec<&mut [Compared]> = pairs.chunks_mut(COMPARED).collect();
    parallel.for_each(&mut tasks, |task| {
        for pair in task.iter_mut() {
            pair.verdict = Some(verify(pair.ranks.0, pair.ranks.1));
        }
    });
}
