//! Connected components: copies of copies are copies.
//!
//! Documents whose pairs verify are joined, and with them whoever is joined to either; the first
//! document of a component in keep order stays. A long chain of small differences can tie
//! strangers together, which is why [`star`](super::star) is the rule, and why the
//! [largest](Components::largest) components are worth a look.
//!
//! A pair whose documents are joined already is not compared. What was refused is known only when
//! everything is joined, and is not stored until then but looked for a second time:
//!
//! ```text
//! for each block, in order:                       and again, if any was refused:
//!     components.join_with(earlier documents)         components.tell_with(earlier documents)
//!     components.step(from the first on)              components.tell(from the first on)
//! ```

use super::gather::{FEW, Gathered, Gatherer, Pair, neighbours_of_each};
use super::union_find::UnionFind;
use super::{Documents, Event, Judge, Parallel, Verdict};
use crate::search::join::SketchIndex;
use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;

/// Documents that ask at a time.
const BATCH: usize = 1024;
/// Pairs that are held at a time.
const PAIRS: usize = 1 << 18;
/// Neighbours that a few documents may have, for each pair: a pair takes more work and memory.
const NEIGHBOURS: usize = 8;
/// Pairs that a thread compares at a time.
const COMPARED: usize = 8;
/// Pairs that a thread sifts at a time.
const SIFTED: usize = 4096;

/// Which documents are joined.
///
/// Holds eight bytes for each, for those of all blocks at once.
pub struct Components {
    joined: UnionFind,
    /// What would be joined if all that is being compared verified.
    hoped: UnionFind,
    /// Whether those who asked last had very many neighbours.
    is_dense: bool,
    refused: u64,
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
    ranks: (u64, u64),
    verdict: Option<Result<Verdict>>,
}

/// Members of one document's list, on their way through the sieve.
struct Sifted<'g> {
    centre: u32,
    members: &'g [u32],
    /// The ranks of those that may verify, or of those that have to be told.
    chosen: Vec<u32>,
}

/// Who asks whom.
struct Question<'q, 'd> {
    index: &'q SketchIndex<'d>,
    /// The documents of the index.
    block: &'q Documents<'d>,
    asking: &'q Documents<'d>,
    /// Whether those who ask are of the block, and only what is behind them counts.
    is_own: bool,
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
            is_dense: false,
            refused: 0,
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
    /// `block` are the documents of the index. `judge` is asked with ranks, for pairs that are not
    /// joined.
    ///
    /// # Errors
    /// Those of `judge`.
    pub fn join_with(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        earlier: &Documents<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<()> {
        let numbers: Vec<u32> = earlier.numbers().collect();
        for numbers in numbers.chunks(self.batch) {
            let question = Question {
                index,
                block,
                asking: earlier,
                is_own: false,
            };
            self.ask(&question, numbers, parallel, judge, None)?;
        }
        Ok(())
    }

    /// Joins documents of a block with one another; a batch at a time, from position `from` on:
    /// returns where the next one begins, or the number of documents.
    ///
    /// The arguments are those of [`join_with`](Self::join_with).
    ///
    /// # Errors
    /// Those of `judge`.
    pub fn step(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<u32> {
        let numbers: Vec<u32> = (from..block.count()).take(self.batch).collect();
        let question = Question {
            index,
            block,
            asking: block,
            is_own: true,
        };
        self.ask(&question, &numbers, parallel, judge, None)?;
        Ok(from + numbers.len() as u32)
    }

    /// Whether any pair was refused so far, of documents that may be joined by now.
    pub fn has_refused(&self) -> bool {
        self.refused > 0
    }

    /// Calls `sink` with the pairs that [`join_with`](Self::join_with) refused and that did not
    /// become joined, as far as the judge wants to be told; returns how many there are, told or
    /// not. To be called when everything is joined.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn tell_with(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        earlier: &Documents<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<u64> {
        let numbers: Vec<u32> = earlier.numbers().collect();
        let mut refused = 0;
        for numbers in numbers.chunks(self.batch) {
            let question = Question {
                index,
                block,
                asking: earlier,
                is_own: false,
            };
            refused += self.ask(&question, numbers, parallel, judge, Some(&mut *sink))?;
        }
        Ok(refused)
    }

    /// The same for what [`step`](Self::step) refused; also returns where the next batch begins.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn tell(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<(u32, u64)> {
        let numbers: Vec<u32> = (from..block.count()).take(self.batch).collect();
        let question = Question {
            index,
            block,
            asking: block,
            is_own: true,
        };
        let refused = self.ask(&question, &numbers, parallel, judge, Some(sink))?;
        Ok((from + numbers.len() as u32, refused))
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

    /// Goes through the pairs of `numbers` that are not joined: joins what verifies, or, if there
    /// is a sink, tells it of them; returns how many pairs there were then.
    fn ask(
        &mut self,
        question: &Question<'_, '_>,
        numbers: &[u32],
        parallel: &impl Parallel,
        judge: &impl Judge,
        mut sink: Option<&mut dyn FnMut(Event) -> Result<()>>,
    ) -> Result<u64> {
        let count = question.block.count();
        let mut gatherer = std::mem::take(&mut self.gatherer);
        if !self.is_dense {
            let limit = (self.pairs / numbers.len().max(1)).max(1);
            let found = self.gather(&mut gatherer, question, (numbers, 0), limit, parallel);
            if found.end >= count {
                let told = self.answer(question, &found, parallel, judge, sink)?;
                self.gatherer = gatherer;
                return Ok(told);
            }
        }
        judge.prepare()?;
        let (mut told, mut most) = (0, 0);
        for few in numbers.chunks(FEW) {
            let limit = neighbours_of_each(few.len(), NEIGHBOURS * self.pairs, question.index);
            let mut from = 0;
            while from < count {
                let found = self.gather(&mut gatherer, question, (few, from), limit, parallel);
                let lengths = found.lists().map(|(_, list)| list.len());
                most = most.max(lengths.max().unwrap_or_default());
                let sink: Option<&mut dyn FnMut(Event) -> Result<()>> = match &mut sink {
                    Some(sink) => Some(&mut **sink),
                    None => None,
                };
                told += self.answer(question, &found, parallel, judge, sink)?;
                from = found.end;
            }
        }
        self.is_dense = most > self.pairs / self.batch;
        self.gatherer = gatherer;
        Ok(told)
    }

    /// What is near `numbers` at and behind a position, and not joined with them.
    fn gather<'g>(
        &self,
        gatherer: &'g mut Gatherer,
        question: &Question<'_, '_>,
        (numbers, from): (&[u32], u32),
        limit: usize,
        parallel: &impl Parallel,
    ) -> Gathered<'g> {
        let Question {
            index,
            block,
            asking,
            is_own,
        } = *question;
        let is_wanted = |Pair { member, centre }: Pair| {
            block.partition(member) == asking.partition(centre)
                && !self.are_joined(asking.rank(centre), block.rank(member))
        };
        let behind = |number: u32| if is_own { number + 1 } else { 0 };
        let range = |number: &u32| (*number, from.max(behind(*number))..block.count());
        let queries = numbers.iter().map(range);
        gatherer.gather(index, asking, queries, limit, is_wanted, parallel)
    }

    fn answer(
        &mut self,
        question: &Question<'_, '_>,
        found: &Gathered<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: Option<&mut dyn FnMut(Event) -> Result<()>>,
    ) -> Result<u64> {
        let pieces = found.lists().flat_map(|(centre, list)| {
            let pieces = list.chunks(SIFTED);
            pieces.map(move |members| Sifted {
                centre,
                members,
                chosen: Vec::new(),
            })
        });
        let mut pieces: Vec<Sifted<'_>> = pieces.collect();
        let all: usize = pieces.iter().map(|piece| piece.members.len()).sum();
        let is_told = sink.is_some();
        parallel.for_each(&mut pieces, |piece| piece.sift(question, judge, is_told));
        let (asking, block) = (question.asking, question.block);
        let chosen = pieces.iter().flat_map(|piece| {
            let centre = piece.centre;
            piece.chosen.iter().map(move |&later| (centre, later))
        });
        let Some(sink) = sink else {
            let possible: usize = pieces.iter().map(|piece| piece.chosen.len()).sum();
            self.refused += (all - possible) as u64;
            let ranks = |(centre, later): (u32, u32)| (asking.rank(centre), later.into());
            let mut pairs = chosen.map(ranks).peekable();
            while pairs.peek().is_some() {
                let some = pairs.by_ref().take(self.pairs);
                self.join(some.collect(), parallel, judge)?;
            }
            return Ok(0);
        };
        for (centre, later) in chosen {
            let member = u64::from(later) - block.rank(0);
            let (a, b) = (asking.sketch(centre), block.sketch(member as u32));
            sink(Event {
                member: later.into(),
                centre: asking.rank(centre),
                score: question.index.method().score(a, b),
                verdict: Verdict::Refused,
            })?;
        }
        Ok(all as u64)
    }

    /// Joins those of `pairs` that verify.
    fn join(
        &mut self,
        pairs: Vec<(u64, u64)>,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<()> {
        let compared = |ranks| Compared {
            ranks,
            verdict: None,
        };
        let mut rest: Vec<Compared> = pairs.into_iter().map(compared).collect();
        let mut hopeful = true;
        while !rest.is_empty() {
            let (mut chosen, later) = self.choose(rest, hopeful);
            compare(&mut chosen, parallel, judge);
            let all = chosen.len();
            let mut verified = 0;
            for Compared { ranks, verdict } in chosen {
                match verdict.transpose()? {
                    Some(Verdict::Same(_)) => {
                        verified += 1;
                        self.joined.union(ranks.0 as u32, ranks.1 as u32);
                    }
                    _ => self.refused += 1,
                }
            }
            // Where most are refused, hope only costs rounds.
            hopeful = 2 * verified >= all;
            rest = later;
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

impl Sifted<'_> {
    /// Finds the pairs that may verify, or, of pairs that are all refused, those to be told.
    fn sift(&mut self, question: &Question<'_, '_>, judge: &impl Judge, is_told: bool) {
        let earlier = question.asking.rank(self.centre);
        let ranks = self
            .members
            .iter()
            .map(|member| question.block.rank(*member));
        if is_told {
            let told = ranks.filter(|later| judge.is_told(earlier, *later));
            self.chosen.extend(told.map(|later| later as u32));
            return;
        }
        let (later, mut possible): (Vec<u64>, _) = (ranks.collect(), Vec::new());
        judge.sift(earlier, &later, &mut possible);
        self.chosen
            .extend(possible.into_iter().map(|later| later as u32));
    }
}

fn compare(pairs: &mut [Compared], parallel: &impl Parallel, judge: &impl Judge) {
    let mut tasks: Vec<&mut [Compared]> = pairs.chunks_mut(COMPARED).collect();
    parallel.for_each(&mut tasks, |task| {
        for pair in task.iter_mut() {
            pair.verdict = Some(judge.verify(pair.ranks.0, pair.ranks.1));
        }
    });
}
