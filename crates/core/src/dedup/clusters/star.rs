//! Star clusters: every removed document is a verified copy of a document that stays.
//!
//! The rule visits documents in keep order, the best copy first. An undecided one becomes a
//! *centre* and removes those of its neighbours that are still undecided and verify as its copies.
//! So no two documents that stay are near, unless verification refused the pair. No chain of small
//! differences joins unrelated documents.
//!
//! A query searches only later documents. The queries of a block are the centres of earlier blocks,
//! then batches of its own undecided documents. A [`Star`] applies the rule to one block:
//!
//! ```text
//! for each block, in order:
//!     build its index, make a Star
//!     for each earlier block:  star.remove_near(its centres, a batch at a time)
//!     while star.step(..)? {}                        the block itself
//!     keep its centres for later blocks
//! ```
//!
//! *Pages of one template* have near sketches, and verification refuses most pairs of them. Pairs of
//! sketches are followed until a document has [`MAX_REFUSALS`](crate::dedup::MAX_REFUSALS): further
//! ones do not count. From then on, such a document is found by the rare elements of its set instead
//! of its sketch, if the [judge](Judge::sets) has sets. So its time does not grow with the number of
//! pages.
//!
//! To remove only the documents that an older collection contains, pass all its documents to
//! [`remove_near`](Star::remove_near) as centres, without any [`step`](Star::step).

use super::context::Context;
use super::gather::{DENSE_QUERIES, Gatherer, neighbours_of_each};
use super::standing::{Refused, Standing, State};
use super::sweep::sweep;
use super::verify_pairs::{CentreSet, verify_pairs};
use crate::Result;
use crate::dedup::documents::NearPair;
use crate::dedup::set_similarity::set_search::SetSearch;
use crate::dedup::{Documents, Event, IndexedBlock, Judge, Parallel};
use crate::search::join::SketchIndex;

/// Documents visited at a time.
const BATCH: usize = 1024;
/// Documents visited at a time if they have very many neighbours: all pairs of a batch are
/// compared.
const DENSE_BATCH: usize = 256;
/// Pairs in memory at a time.
const PAIRS: usize = 1 << 18;
/// Factor by which [`DENSE_QUERIES`] centres may have more neighbours than [`PAIRS`]: a neighbour
/// takes less work and memory than a pair.
const DENSE_FACTOR: usize = 16;

/// After this many refused pairs that do not count, for each document of the block, documents with
/// [`MAX_REFUSALS`](crate::dedup::MAX_REFUSALS) move from the index of sketches to that of sets.
/// Moving them is about as much work as these pairs.
const BEYOND: u64 = 16;

/// The star rule over a block of documents.
pub struct Star<'a> {
    index: SketchIndex<'a>,
    documents: Documents<'a>,
    standings: Vec<Standing>,
    /// Documents that are found by their sets.
    by_sets: SetSearch,
    /// All documents before this position are decided.
    decided: u32,
    /// Whether the last batch had very many neighbours.
    is_dense: bool,
    refused: Refused,
    /// The refused pairs that did not count, at the last move.
    beyond: u64,
    gatherer: Gatherer,
    batch: usize,
    pairs: usize,
    max_beyond: u64,
}

impl<'a> Star<'a> {
    /// Maximum memory of a star in bytes, besides [`bytes_per_document`](Self::bytes_per_document):
    /// pairs, their outcomes, and search buffers.
    pub const WORKING_BYTES: usize = 96 << 20;

    /// Creates the star of the documents of `index`, all undecided, whose ranks start at `first`.
    ///
    /// `partitions` has a value for each document, and only documents with equal values are
    /// compared; or it is empty.
    ///
    /// # Panics
    /// If `partitions` is neither empty nor has one value for each document.
    pub fn new(index: SketchIndex<'a>, first: u64, partitions: &'a [u64]) -> Star<'a> {
        Star {
            documents: Documents::block(index.sketches(), first, partitions),
            standings: vec![Standing::UNDECIDED; index.count() as usize],
            by_sets: SetSearch::default(),
            decided: 0,
            is_dense: false,
            refused: Refused::default(),
            beyond: 0,
            gatherer: Gatherer::default(),
            batch: BATCH,
            pairs: PAIRS,
            max_beyond: BEYOND * u64::from(index.count()),
            index,
        }
    }

    /// Sets the batch sizes, and how many refused pairs that do not count are followed before sets
    /// are searched. They change only the order of events.
    #[must_use]
    pub fn with_batches(mut self, documents: usize, pairs: usize, beyond: u64) -> Star<'a> {
        self.batch = documents.max(1);
        self.pairs = pairs.max(1);
        self.max_beyond = beyond;
        self
    }

    /// The memory of each document in bytes, besides its sketch and the index.
    pub const fn bytes_per_document() -> usize {
        size_of::<Standing>() + SetSearch::bytes_per_document()
    }

    /// Removes the documents that verify as copies of `centres`, all of earlier ranks.
    ///
    /// Call it with batches of centres in keep order, before the first [`step`](Self::step).
    /// `judge` is called with the ranks of centre and member, at most once for each pair, and only
    /// while the member is undecided. `sink` receives each removal, and the first
    /// [`MAX_REFUSALS`](crate::dedup::MAX_REFUSALS) refusals of each member in keep order, if the judge
    /// [wants](Judge::reports_refusals) them. The set of events is always the same; their order depends
    /// only on the batches.
    ///
    /// # Errors
    /// The first of `judge` or `sink`.
    pub fn remove_near(
        &mut self,
        centres: &Documents<'_>,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let centre_set = CentreSet {
            documents: *centres,
            own: None,
        };
        let mut context = Context {
            parallel,
            judge,
            sink,
        };
        let numbers: Vec<u32> = centres.numbers().collect();
        for numbers in numbers.chunks(self.batch) {
            self.move_to_sets(&context)?;
            self.remove_from(0, &centre_set, numbers, &mut context)?;
        }
        Ok(())
    }

    /// Visits the next batch of undecided documents; `false` if there was none.
    ///
    /// `judge` and `sink` are those of [`remove_near`](Self::remove_near).
    ///
    /// # Errors
    /// The first of `judge` or `sink`.
    pub fn step(
        &mut self,
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<bool> {
        let mut context = Context {
            parallel,
            judge,
            sink,
        };
        self.move_to_sets(&context)?;
        let batch = self.next_batch();
        let (Some(&first), Some(&last)) = (batch.first(), batch.last()) else {
            self.decided = self.documents.count();
            return Ok(false);
        };
        let behind = last + 1;
        let centre_set = CentreSet {
            documents: self.documents,
            own: Some(first..behind),
        };
        // Usually one query for each document suffices. If that gives too many pairs, the batch is
        // decided first, and then only its centres are queried.
        let mut pairs = None;
        if !self.is_dense {
            pairs = self.near(&centre_set, &batch, |position| position + 1, parallel);
            self.is_dense = pairs.is_none();
        }
        match pairs {
            Some(mut pairs) => {
                let after = |position| position + 1;
                pairs.extend(self.near_by_sets(&centre_set, &batch, after, &context)?);
                pairs.sort_unstable();
                self.decide_batch(&centre_set, &batch, &pairs, &mut context)?;
            }
            None => {
                judge.prepare()?;
                let pairs = self.pairs_of(&batch, parallel);
                self.decide_batch(&centre_set, &batch, &pairs, &mut context)?;
                let is_centre =
                    |position: &u32| self.standings[*position as usize].state == State::Centre;
                let centres: Vec<u32> = batch.iter().copied().filter(is_centre).collect();
                self.remove_from(behind, &centre_set, &centres, &mut context)?;
            }
        }
        self.decided = behind;
        Ok(true)
    }

    /// The number of refused pairs, at most [`MAX_REFUSALS`](crate::dedup::MAX_REFUSALS) for each
    /// document.
    pub fn refused(&self) -> u64 {
        self.refused.counted
    }

    /// All documents before this position are decided.
    pub fn decided(&self) -> u32 {
        self.decided
    }

    /// Whether the document at `position` was removed.
    pub fn is_removed(&self, position: u32) -> bool {
        self.standings[position as usize].state == State::Removed
    }

    /// The positions of the documents that are not removed, ascending: after the last step, the
    /// centres.
    pub fn not_removed(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.documents.count()).filter(|position| !self.is_removed(*position))
    }

    /// The next undecided positions.
    fn next_batch(&self) -> Vec<u32> {
        let rest = self.decided..self.documents.count();
        let undecided = rest.filter(|position| !self.is_removed(*position));
        let most = match self.is_dense {
            true => self.batch.min(DENSE_BATCH),
            false => self.batch,
        };
        undecided.take(most).collect()
    }

    /// The near pairs of the documents `numbers` of `centre_set` with members from position
    /// `start(number)` on. `None` if a document has too many candidates.
    fn near(
        &mut self,
        centre_set: &CentreSet<'_>,
        numbers: &[u32],
        start: impl Fn(u32) -> u32,
        parallel: &impl Parallel,
    ) -> Option<Vec<NearPair>> {
        let (standings, by_sets) = (&self.standings, &self.by_sets);
        let count = self.documents.count();
        let queries = numbers
            .iter()
            .map(|number| (*number, start(*number)..count));
        let found = self.gatherer.gather(
            IndexedBlock {
                index: &self.index,
                documents: self.documents,
            },
            &centre_set.documents,
            queries,
            (self.pairs / numbers.len().max(1)).max(1),
            |NearPair { member, .. }| {
                standings[member as usize].state == State::Undecided && !by_sets.contains(member)
            },
            parallel,
        );
        (found.end >= count).then(|| found.pairs())
    }

    /// The near pairs of the documents `numbers` of `centre_set` with those members that are found by
    /// their sets, from position `start(number)` on, without some that the judge would refuse.
    fn near_by_sets(
        &self,
        centre_set: &CentreSet<'_>,
        numbers: &[u32],
        start: impl Fn(u32) -> u32 + Sync,
        context: &Context<'_, impl Parallel, impl Judge>,
    ) -> Result<Vec<NearPair>> {
        let block = IndexedBlock {
            index: &self.index,
            documents: self.documents,
        };
        let standings = &self.standings;
        let is_undecided = |member: u32| standings[member as usize].state == State::Undecided;
        let (centres, judge) = (&centre_set.documents, context.judge);
        let queries = numbers.iter().map(|number| (*number, start(*number)));
        self.by_sets.pairs(
            block,
            centres,
            queries,
            is_undecided,
            judge,
            context.parallel,
        )
    }

    /// Moves the undecided documents with enough refused pairs from the index of sketches to that of
    /// sets, if many of their pairs were followed without effect.
    fn move_to_sets(&mut self, context: &Context<'_, impl Parallel, impl Judge>) -> Result<()> {
        if self.refused.beyond - self.beyond <= self.max_beyond {
            return Ok(());
        }
        self.beyond = self.refused.beyond;
        let standings = &self.standings;
        let moves = |position: u32| {
            let standing = standings[position as usize];
            standing.state == State::Undecided && standing.refusals.are_enough()
        };
        let rest = self.decided..self.documents.count();
        let documents = &self.documents;
        self.by_sets
            .build(documents, rest, moves, context.judge, context.parallel)?;
        let (decided, by_sets) = (self.decided, &self.by_sets);
        self.index.retain(|position| {
            let is_undecided = standings[position as usize].state == State::Undecided;
            position >= decided && is_undecided && !by_sets.contains(position)
        });
        Ok(())
    }

    /// The pairs of near documents of a batch, by comparing all of it.
    fn pairs_of(&self, batch: &[u32], parallel: &impl Parallel) -> Vec<NearPair> {
        let (method, block) = (self.index.method(), &self.documents);
        let mut rows: Vec<(usize, Vec<NearPair>)> = (0..batch.len()).map(|n| (n, vec![])).collect();
        parallel.for_each(&mut rows, |(number, pairs)| {
            let member = batch[*number];
            let sketch = block.sketch(member);
            let near = batch[..*number].iter().filter(|&&centre| {
                block.partition(member) == block.partition(centre)
                    && method.accepts(&method.score(block.sketch(centre), sketch))
            });
            pairs.extend(near.map(|&centre| NearPair { member, centre }));
        });
        rows.into_iter().flat_map(|(_, pairs)| pairs).collect()
    }

    /// Decides the documents of a batch, and the members after it that occur in `pairs`.
    fn decide_batch(
        &mut self,
        centre_set: &CentreSet<'_>,
        batch: &[u32],
        pairs: &[NearPair],
        context: &mut Context<'_, impl Parallel, impl Judge>,
    ) -> Result<()> {
        // Documents without a near earlier one are centres.
        let mut rest = pairs.iter().map(|pair| pair.member).peekable();
        for position in batch {
            while rest.next_if(|member| member < position).is_some() {}
            if rest.peek() != Some(position) {
                self.standings[*position as usize].state = State::Centre;
            }
        }
        self.verify_pairs(centre_set, pairs, context)
    }

    /// Decides the members of `pairs`, sorted by member, then by centre.
    fn verify_pairs(
        &mut self,
        centre_set: &CentreSet<'_>,
        pairs: &[NearPair],
        context: &mut Context<'_, impl Parallel, impl Judge>,
    ) -> Result<()> {
        let block = IndexedBlock {
            index: &self.index,
            documents: self.documents,
        };
        self.refused += verify_pairs(block, centre_set, pairs, &mut self.standings, context)?;
        Ok(())
    }

    /// Removes the copies of centres `numbers` of `centre_set`, from position `start` on.
    fn remove_from(
        &mut self,
        start: u32,
        centre_set: &CentreSet<'_>,
        numbers: &[u32],
        context: &mut Context<'_, impl Parallel, impl Judge>,
    ) -> Result<()> {
        let mut pairs = self.near_by_sets(centre_set, numbers, |_| start, context)?;
        pairs.sort_unstable();
        self.verify_pairs(centre_set, &pairs, context)?;
        if !self.is_dense {
            if let Some(pairs) = self.near(centre_set, numbers, |_| start, context.parallel) {
                return self.verify_pairs(centre_set, &pairs, context);
            }
            context.judge.prepare()?;
        }
        let mut most = 0;
        for numbers in numbers.chunks(DENSE_QUERIES) {
            most = most.max(self.remove_dense(start, &centre_set.documents, numbers, context)?);
        }
        self.is_dense = most > self.pairs / self.batch;
        Ok(())
    }

    /// Like [`remove_from`](Self::remove_from) for at most [`DENSE_QUERIES`] centres with very many
    /// neighbours. Returns the largest number of neighbours of one centre.
    fn remove_dense(
        &mut self,
        start: u32,
        centres: &Documents<'_>,
        numbers: &[u32],
        context: &mut Context<'_, impl Parallel, impl Judge>,
    ) -> Result<usize> {
        let (mut from, count) = (start, self.documents.count());
        let block = IndexedBlock {
            index: &self.index,
            documents: self.documents,
        };
        let limit = neighbours_of_each(numbers.len(), DENSE_FACTOR * self.pairs, block.index);
        let mut most = 0;
        while from < count {
            let (standings, by_sets) = (&self.standings, &self.by_sets);
            let found = self.gatherer.gather(
                block,
                centres,
                numbers.iter().map(|number| (*number, from..count)),
                limit,
                |NearPair { member, .. }| {
                    let is_undecided = standings[member as usize].state == State::Undecided;
                    is_undecided && !by_sets.contains(member)
                },
                context.parallel,
            );
            let lists: Vec<(u32, &[u32])> = found.lists().collect();
            let lengths = lists.iter().map(|(_, list)| list.len());
            most = most.max(lengths.max().unwrap_or_default());
            self.refused += sweep(block, centres, &lists, &mut self.standings, context)?;
            from = found.end;
        }
        Ok(most)
    }
}
