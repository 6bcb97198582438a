//! Connected components of the graph of verified pairs: copies of copies are copies.
//!
//! A verified pair joins the components of its two documents. The first document of a component in
//! keep order stays. A long chain of small differences can join unrelated documents. Therefore
//! [`star`](super::star) is the default rule, and the [largest](Components::largest) components
//! deserve a check.
//!
//! A pair whose documents are already joined is not compared. A refused pair counts only if its
//! documents are not joined in the end. So refused pairs are not stored, but searched again in a
//! second pass:
//!
//! ```text
//! for each block, in order:                       and again, if any pair was refused:
//!     components.join_with(earlier documents)         components.report_refused_with(earlier documents)
//!     components.step(from position 0 on)             components.report_refused(from position 0 on)
//! ```

use super::gather::{FEW, Gathered, Gatherer, Pair, neighbours_of_each};
use super::union_find::UnionFind;
use super::{Documents, Event, Judge, Parallel, Verdict};
use crate::search::join::SketchIndex;
use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;

/// Documents queried at a time.
const BATCH: usize = 1024;
/// Pairs in memory at a time.
const PAIRS: usize = 1 << 18;
/// Factor by which a few dense documents may have more neighbours than [`PAIRS`]: a neighbour takes
/// less work and memory than a pair.
const NEIGHBOURS: usize = 8;
/// Pairs compared by one task.
const COMPARED: usize = 8;
/// Pairs filtered by one task.
const FILTERED: usize = 4096;

/// The components of documents joined so far.
///
/// Holds eight bytes for each document of all blocks.
pub struct Components {
    joined: UnionFind,
    /// The components if all pairs under comparison verified.
    assumed: UnionFind,
    /// Whether the last batch had very many neighbours.
    is_dense: bool,
    refused: u64,
    gatherer: Gatherer,
    batch: usize,
    pairs: usize,
}

/// A component: the rank of its first document, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// The rank of the document that stays.
    pub first: u64,
    /// The number of documents, including the first.
    pub size: u64,
}

/// A pair under comparison, by rank.
struct ComparedPair {
    ranks: (u64, u64),
    verdict: Option<Result<Verdict>>,
}

/// A part of one document's list of neighbours, to be filtered by the judge.
struct FilterTask<'g> {
    centre: u32,
    members: &'g [u32],
    /// The ranks of those that may verify, or whose refusals the judge wants reported.
    chosen: Vec<u32>,
}

/// The documents that are queried, and the block that is searched.
struct BlockQuery<'q, 'd> {
    index: &'q SketchIndex<'d>,
    /// The documents of the index.
    block: &'q Documents<'d>,
    querying: &'q Documents<'d>,
    /// Whether the queried documents are of the block, so that only later positions count.
    is_own: bool,
}

impl Components {
    /// Creates `count` components of one document each, of the ranks 0, 1, …
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
            assumed: UnionFind::new(known),
            is_dense: false,
            refused: 0,
            gatherer: Gatherer::default(),
            batch: BATCH,
            pairs: PAIRS,
        })
    }

    /// Sets the batch sizes, which do not change any component.
    #[must_use]
    pub fn with_batches(mut self, documents: usize, pairs: usize) -> Components {
        self.batch = documents.max(1);
        self.pairs = pairs.max(1);
        self
    }

    /// Joins documents of the block of `index` with `earlier` ones.
    ///
    /// `block` has the documents of the index. `judge` is called with ranks, for pairs that are not
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
            let query = BlockQuery {
                index,
                block,
                querying: earlier,
                is_own: false,
            };
            self.process(&query, numbers, parallel, judge, None)?;
        }
        Ok(())
    }

    /// Joins documents of a block with one another: one batch, from position `from` on. Returns the
    /// start of the next batch, or the number of documents.
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
        let query = BlockQuery {
            index,
            block,
            querying: block,
            is_own: true,
        };
        self.process(&query, &numbers, parallel, judge, None)?;
        Ok(from + numbers.len() as u32)
    }

    /// Whether any pair was refused so far; its documents may have been joined since.
    pub fn has_refused(&self) -> bool {
        self.refused > 0
    }

    /// Finds the pairs that [`join_with`](Self::join_with) refused and whose documents are not
    /// joined. Calls `sink` with those for which [`Judge::reports_refusal`] holds; returns the
    /// number of all. Call it when everything is joined.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn report_refused_with(
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
            let query = BlockQuery {
                index,
                block,
                querying: earlier,
                is_own: false,
            };
            refused += self.process(&query, numbers, parallel, judge, Some(&mut *sink))?;
        }
        Ok(refused)
    }

    /// Like [`report_refused_with`](Self::report_refused_with) for the pairs that
    /// [`step`](Self::step) refused. Returns the start of the next batch, and the number of pairs.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn report_refused(
        &mut self,
        (index, block): (&SketchIndex<'_>, &Documents<'_>),
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<(u32, u64)> {
        let numbers: Vec<u32> = (from..block.count()).take(self.batch).collect();
        let query = BlockQuery {
            index,
            block,
            querying: block,
            is_own: true,
        };
        let refused = self.process(&query, &numbers, parallel, judge, Some(sink))?;
        Ok((from + numbers.len() as u32, refused))
    }

    /// Whether two documents are in one component.
    pub fn are_joined(&self, a: u64, b: u64) -> bool {
        self.joined.root(a as u32) == self.joined.root(b as u32)
    }

    /// The first document, in keep order, of the component of a document.
    pub fn first(&self, rank: u64) -> u64 {
        self.joined.root(rank as u32).into()
    }

    /// The `most` largest components by descending size, then by rank; without those of one
    /// document.
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

    /// Processes the near pairs of `numbers` that are not joined. Without a sink, joins those that
    /// verify and returns 0. With a sink, reports them as refused and returns their number.
    fn process(
        &mut self,
        query: &BlockQuery<'_, '_>,
        numbers: &[u32],
        parallel: &impl Parallel,
        judge: &impl Judge,
        mut sink: Option<&mut dyn FnMut(Event) -> Result<()>>,
    ) -> Result<u64> {
        let count = query.block.count();
        let mut gatherer = std::mem::take(&mut self.gatherer);
        if !self.is_dense {
            let limit = (self.pairs / numbers.len().max(1)).max(1);
            let found = self.gather(&mut gatherer, query, (numbers, 0), limit, parallel);
            if found.end >= count {
                let reported = self.process_pairs(query, &found, parallel, judge, sink)?;
                self.gatherer = gatherer;
                return Ok(reported);
            }
        }
        judge.prepare()?;
        let (mut reported, mut most) = (0, 0);
        for few in numbers.chunks(FEW) {
            let limit = neighbours_of_each(few.len(), NEIGHBOURS * self.pairs, query.index);
            let mut from = 0;
            while from < count {
                let found = self.gather(&mut gatherer, query, (few, from), limit, parallel);
                let lengths = found.lists().map(|(_, list)| list.len());
                most = most.max(lengths.max().unwrap_or_default());
                let sink: Option<&mut dyn FnMut(Event) -> Result<()>> = match &mut sink {
                    Some(sink) => Some(&mut **sink),
                    None => None,
                };
                reported += self.process_pairs(query, &found, parallel, judge, sink)?;
                from = found.end;
            }
        }
        self.is_dense = most > self.pairs / self.batch;
        self.gatherer = gatherer;
        Ok(reported)
    }

    /// The neighbours of `numbers` from position `from` on that are not joined with them.
    fn gather<'g>(
        &self,
        gatherer: &'g mut Gatherer,
        query: &BlockQuery<'_, '_>,
        (numbers, from): (&[u32], u32),
        limit: usize,
        parallel: &impl Parallel,
    ) -> Gathered<'g> {
        let BlockQuery {
            index,
            block,
            querying,
            is_own,
        } = *query;
        let is_wanted = |Pair { member, centre }: Pair| {
            block.partition(member) == querying.partition(centre)
                && !self.are_joined(querying.rank(centre), block.rank(member))
        };
        let behind = |number: u32| if is_own { number + 1 } else { 0 };
        let range = |number: &u32| (*number, from.max(behind(*number))..block.count());
        let queries = numbers.iter().map(range);
        gatherer.gather(index, querying, queries, limit, is_wanted, parallel)
    }

    fn process_pairs(
        &mut self,
        query: &BlockQuery<'_, '_>,
        found: &Gathered<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: Option<&mut dyn FnMut(Event) -> Result<()>>,
    ) -> Result<u64> {
        let pieces = found.lists().flat_map(|(centre, list)| {
            let pieces = list.chunks(FILTERED);
            pieces.map(move |members| FilterTask {
                centre,
                members,
                chosen: Vec::new(),
            })
        });
        let mut pieces: Vec<FilterTask<'_>> = pieces.collect();
        let all: usize = pieces.iter().map(|piece| piece.members.len()).sum();
        let is_report = sink.is_some();
        parallel.for_each(&mut pieces, |piece| piece.filter(query, judge, is_report));
        let (querying, block) = (query.querying, query.block);
        let chosen = pieces.iter().flat_map(|piece| {
            let centre = piece.centre;
            piece.chosen.iter().map(move |&later| (centre, later))
        });
        let Some(sink) = sink else {
            let possible: usize = pieces.iter().map(|piece| piece.chosen.len()).sum();
            self.refused += (all - possible) as u64;
            let ranks = |(centre, later): (u32, u32)| (querying.rank(centre), later.into());
            let mut pairs = chosen.map(ranks).peekable();
            while pairs.peek().is_some() {
                let some = pairs.by_ref().take(self.pairs);
                self.join(some.collect(), parallel, judge)?;
            }
            return Ok(0);
        };
        for (centre, later) in chosen {
            let member = u64::from(later) - block.rank(0);
            let (a, b) = (querying.sketch(centre), block.sketch(member as u32));
            sink(Event {
                member: later.into(),
                centre: querying.rank(centre),
                score: query.index.method().score(a, b),
                verdict: Verdict::Refused,
            })?;
        }
        Ok(all as u64)
    }

    /// Compares `pairs` and joins those that verify.
    fn join(
        &mut self,
        pairs: Vec<(u64, u64)>,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<()> {
        let compared = |ranks| ComparedPair {
            ranks,
            verdict: None,
        };
        let mut rest: Vec<ComparedPair> = pairs.into_iter().map(compared).collect();
        let mut optimistic = true;
        while !rest.is_empty() {
            let (mut chosen, deferred) = self.choose(rest, optimistic);
            compare(&mut chosen, parallel, judge);
            let all = chosen.len();
            let mut verified = 0;
            for ComparedPair { ranks, verdict } in chosen {
                match verdict.transpose()? {
                    Some(Verdict::Same(_)) => {
                        verified += 1;
                        self.joined.union(ranks.0 as u32, ranks.1 as u32);
                    }
                    _ => self.refused += 1,
                }
            }
            // If most are refused, deferring pairs only costs rounds.
            optimistic = 2 * verified >= all;
            rest = deferred;
        }
        Ok(())
    }

    /// Drops pairs that are joined. If `optimistic`, defers pairs that earlier candidates would
    /// join, assuming that those verify.
    fn choose(
        &mut self,
        pairs: Vec<ComparedPair>,
        optimistic: bool,
    ) -> (Vec<ComparedPair>, Vec<ComparedPair>) {
        let (mut chosen, mut deferred) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        for pair in pairs {
            let a = self.joined.root(pair.ranks.0 as u32);
            let b = self.joined.root(pair.ranks.1 as u32);
            if a == b {
                continue;
            }
            touched.extend([a, b]);
            if self.assumed.union(a, b) || !optimistic {
                chosen.push(pair);
            } else {
                deferred.push(pair);
            }
        }
        for root in touched {
            self.assumed.reset(root);
        }
        (chosen, deferred)
    }
}

impl FilterTask<'_> {
    /// Finds the pairs that may verify; or, of refused pairs, those to report.
    fn filter(&mut self, query: &BlockQuery<'_, '_>, judge: &impl Judge, is_report: bool) {
        let earlier = query.querying.rank(self.centre);
        let ranks = self.members.iter().map(|member| query.block.rank(*member));
        if is_report {
            let reported = ranks.filter(|later| judge.reports_refusal(earlier, *later));
            self.chosen.extend(reported.map(|later| later as u32));
            return;
        }
        let (later, mut possible): (Vec<u64>, _) = (ranks.collect(), Vec::new());
        judge.filter(earlier, &later, &mut possible);
        self.chosen
            .extend(possible.into_iter().map(|later| later as u32));
    }
}

fn compare(pairs: &mut [ComparedPair], parallel: &impl Parallel, judge: &impl Judge) {
    let mut tasks: Vec<&mut [ComparedPair]> = pairs.chunks_mut(COMPARED).collect();
    parallel.for_each(&mut tasks, |task| {
        for pair in task.iter_mut() {
            pair.verdict = Some(judge.verify(pair.ranks.0, pair.ranks.1));
        }
    });
}
