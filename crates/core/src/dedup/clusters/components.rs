//! Connected components of the graph of verified pairs: copies of copies are copies.
//!
//! A verified pair joins the components of its two documents. The first document of a component in
//! keep order stays. A long chain of small differences can join unrelated documents. Therefore
//! [`star`](super::star) is the default rule, and the [largest](Components::largest) components
//! deserve a check.
//!
//! A pair whose documents are already joined is not compared. A refused pair counts only if its
//! documents are not joined in the end, and at most [`MAX_REFUSALS`](crate::dedup::MAX_REFUSALS)
//! of the later document. So refused pairs are not stored, but searched again in a second pass:
//!
//! ```text
//! for each block, in order:               and again, if any pair was refused:
//!     components.join(earlier documents)      components.report_refused(earlier documents)
//!     components.join(the block itself)       components.report_refused(the block itself)
//! ```

use super::gather::{DENSE_QUERIES, Gathered, Gatherer, neighbours_of_each};
use super::standing::Refusals;
use super::union_find::UnionFind;
use crate::dedup::documents::NearPair;
use crate::dedup::{Documents, Event, IndexedBlock, Judge, Parallel, Verdict};
use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;

/// Documents queried at a time.
const BATCH: usize = 1024;
/// Pairs in memory at a time.
const PAIRS: usize = 1 << 18;
/// Factor by which [`DENSE_QUERIES`] documents may have more neighbours than [`PAIRS`]: a neighbour
/// takes less work and memory than a pair.
const DENSE_FACTOR: usize = 8;
/// Pairs compared by one task.
const COMPARED: usize = 8;
/// Pairs filtered by one task.
const FILTERED: usize = 4096;

/// The components of documents joined so far.
///
/// Holds [`bytes_per_document`](Self::bytes_per_document) for each document of all blocks.
pub struct Components {
    joined: UnionFind,
    /// The components if all pairs under comparison verified.
    assumed: UnionFind,
    /// Whether the last batch had very many neighbours.
    is_dense: bool,
    refused: u64,
    /// Of each later document; empty before the second pass.
    refusals: Vec<Refusals>,
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
    /// The members that may verify.
    chosen: Vec<u32>,
}

/// The documents that are queried, and the block that is searched.
struct BlockQuery<'q> {
    block: IndexedBlock<'q>,
    querying: Documents<'q>,
    /// Whether the queried documents are of the block, so that only later positions count.
    is_own: bool,
}

impl<'q> BlockQuery<'q> {
    /// A query of `earlier` documents, or of the block itself if `None`.
    fn new(block: IndexedBlock<'q>, earlier: Option<&Documents<'q>>) -> BlockQuery<'q> {
        BlockQuery {
            block,
            querying: earlier.copied().unwrap_or(block.documents),
            is_own: earlier.is_none(),
        }
    }

    /// The ranks of the documents of a pair, the earlier one first.
    fn ranks(&self, pair: NearPair) -> (u64, u64) {
        let member = self.block.documents.rank(pair.member);
        (self.querying.rank(pair.centre), member)
    }

    /// Filters the neighbours found by the judge. Runs in parallel.
    fn filter<'g>(
        &self,
        found: &'g Gathered<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Vec<FilterTask<'g>> {
        let pieces = found.lists().flat_map(|(centre, list)| {
            let pieces = list.chunks(FILTERED);
            pieces.map(move |members| FilterTask {
                centre,
                members,
                chosen: Vec::new(),
            })
        });
        let mut tasks: Vec<FilterTask<'_>> = pieces.collect();
        let documents = &self.block.documents;
        parallel.for_each(&mut tasks, |task| {
            let ranks = task.members.iter().map(|member| documents.rank(*member));
            let (later, mut chosen): (Vec<u64>, _) = (ranks.collect(), Vec::new());
            judge.filter(self.querying.rank(task.centre), &later, &mut chosen);
            let position = |rank: u64| (rank - documents.rank(0)) as u32;
            task.chosen.extend(chosen.into_iter().map(position));
        });
        tasks
    }
}

/// The pairs that were chosen.
fn chosen(tasks: &[FilterTask<'_>]) -> impl Iterator<Item = NearPair> {
    tasks.iter().flat_map(|task| {
        let centre = task.centre;
        let pair = move |&member: &u32| NearPair { member, centre };
        task.chosen.iter().map(pair)
    })
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
            refusals: Vec::new(),
            gatherer: Gatherer::default(),
            batch: BATCH,
            pairs: PAIRS,
        })
    }

    /// The memory of each document in bytes.
    pub const fn bytes_per_document() -> usize {
        2 * size_of::<u32>() + size_of::<Refusals>()
    }

    /// Sets the batch sizes, which do not change any component.
    #[must_use]
    pub fn with_batches(mut self, documents: usize, pairs: usize) -> Components {
        self.batch = documents.max(1);
        self.pairs = pairs.max(1);
        self
    }

    /// Joins the documents of `block` with `earlier` ones, or with one another if `None`: one batch
    /// of the earlier documents, or of the block, from number `from` on. Returns the start of the
    /// next batch, or `None` after the last one.
    ///
    /// `judge` is called with ranks, for pairs that are not joined.
    ///
    /// # Errors
    /// Errors of `judge`.
    pub fn join(
        &mut self,
        block: IndexedBlock<'_>,
        earlier: Option<&Documents<'_>>,
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<Option<u32>> {
        let query = BlockQuery::new(block, earlier);
        self.process(&query, from, parallel, judge, |components, found| {
            components.join_found(&query, found, parallel, judge)
        })
    }

    /// Whether any pair was refused so far; its documents may have been joined since.
    pub fn has_refused(&self) -> bool {
        self.refused > 0
    }

    /// Finds the pairs that [`join`](Self::join) refused and whose documents are not joined, the
    /// first of each later document. Calls `sink` with them if the judge
    /// [wants](Judge::reports_refusals) it; also returns their number. Call it after the last
    /// [`join`](Self::join), whose parameters it shares.
    ///
    /// # Errors
    /// Errors of `sink` and of [`Judge::prepare`].
    pub fn report_refused(
        &mut self,
        block: IndexedBlock<'_>,
        earlier: Option<&Documents<'_>>,
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<(Option<u32>, u64)> {
        let query = BlockQuery::new(block, earlier);
        let mut refused = 0;
        self.refusals
            .resize(self.joined.count() as usize, Refusals::default());
        let next = self.process(&query, from, parallel, judge, |components, found| {
            for (centre, members) in found.lists() {
                for &member in members {
                    let rank = block.documents.rank(member);
                    if !components.refusals[rank as usize].add() {
                        continue;
                    }
                    refused += 1;
                    if judge.reports_refusals() {
                        let pair = NearPair { member, centre };
                        sink(block.event(&query.querying, pair, Verdict::Refused))?;
                    }
                }
            }
            Ok(())
        })?;
        Ok((next, refused))
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

    /// Calls `visit` with the neighbours of a batch of documents, from number `from` on, that are
    /// not joined with them. Returns the start of the next batch.
    fn process(
        &mut self,
        query: &BlockQuery<'_>,
        from: u32,
        parallel: &impl Parallel,
        judge: &impl Judge,
        mut visit: impl FnMut(&mut Components, &Gathered<'_>) -> Result<()>,
    ) -> Result<Option<u32>> {
        let numbers: Vec<u32> = (from..query.querying.count()).take(self.batch).collect();
        let end = from + numbers.len() as u32;
        let next = (end < query.querying.count()).then_some(end);
        let count = query.block.documents.count();
        let mut gatherer = std::mem::take(&mut self.gatherer);
        if !self.is_dense {
            let limit = (self.pairs / numbers.len().max(1)).max(1);
            let found = self.gather(&mut gatherer, query, &numbers, 0, limit, parallel);
            if found.end >= count {
                visit(self, &found)?;
                self.gatherer = gatherer;
                return Ok(next);
            }
        }
        judge.prepare()?;
        let mut most = 0;
        for numbers in numbers.chunks(DENSE_QUERIES) {
            let max_pairs = DENSE_FACTOR * self.pairs;
            let limit = neighbours_of_each(numbers.len(), max_pairs, query.block.index);
            let mut start = 0;
            while start < count {
                let found = self.gather(&mut gatherer, query, numbers, start, limit, parallel);
                let lengths = found.lists().map(|(_, list)| list.len());
                most = most.max(lengths.max().unwrap_or_default());
                visit(self, &found)?;
                start = found.end;
            }
        }
        self.is_dense = most > self.pairs / self.batch;
        self.gatherer = gatherer;
        Ok(next)
    }

    /// The neighbours of `numbers` from position `start` on that are not joined with them.
    fn gather<'g>(
        &self,
        gatherer: &'g mut Gatherer,
        query: &BlockQuery<'_>,
        numbers: &[u32],
        start: u32,
        limit: usize,
        parallel: &impl Parallel,
    ) -> Gathered<'g> {
        let is_wanted = |pair: NearPair| {
            let (earlier, later) = query.ranks(pair);
            let refusals = self.refusals.get(later as usize);
            let is_full = refusals.is_some_and(|refusals| refusals.are_enough());
            !is_full && !self.are_joined(earlier, later)
        };
        let first = |number: u32| if query.is_own { number + 1 } else { 0 };
        let count = query.block.documents.count();
        let range = |number: &u32| (*number, start.max(first(*number))..count);
        let queries = numbers.iter().map(range);
        gatherer.gather(
            query.block,
            &query.querying,
            queries,
            limit,
            is_wanted,
            parallel,
        )
    }

    /// Joins the documents of the pairs found that verify.
    fn join_found(
        &mut self,
        query: &BlockQuery<'_>,
        found: &Gathered<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
    ) -> Result<()> {
        let possible = query.filter(found, parallel, judge);
        self.refused += found.count() - chosen(&possible).count() as u64;
        let mut pairs = chosen(&possible).map(|pair| query.ranks(pair)).peekable();
        while pairs.peek().is_some() {
            let some = pairs.by_ref().take(self.pairs);
            self.join_pairs(some.collect(), parallel, judge)?;
        }
        Ok(())
    }

    /// Compares `pairs` and joins those that verify.
    fn join_pairs(
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

fn compare(pairs: &mut [ComparedPair], parallel: &impl Parallel, judge: &impl Judge) {
    let mut tasks: Vec<&mut [ComparedPair]> = pairs.chunks_mut(COMPARED).collect();
    parallel.for_each(&mut tasks, |task| {
        for pair in task.iter_mut() {
            pair.verdict = Some(judge.verify(pair.ranks.0, pair.ranks.1));
        }
    });
}
