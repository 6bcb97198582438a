//! Star clusters: every removed document is a verified copy of the one that stays.
//!
//! The rule: documents are visited in keep order; an undecided one becomes a *centre* and removes
//! those of its neighbours that are still undecided and that verify as its copies. So whoever stays
//! is near no other that stays, unless verification refused the pair, and no chain of small
//! differences ties strangers together.
//!
//! Only centres ask for neighbours, and only behind themselves. A [`Star`] is one block:
//!
//! ```text
//! for each block, in order:
//!     build its index, make a Star
//!     for each earlier block:  star.remove_near(its centres, a batch at a time)
//!     while star.step(..)? {}                        the block itself
//!     put its centres aside
//! ```
//!
//! To remove from new documents what an older collection has, and nothing else, let all documents
//! of the older collection pass by [`remove_near`](Star::remove_near) as centres, and take no
//! [`step`](Star::step).

use super::gather::{Gatherer, Pair};
use super::settle::{Asking, State, settle};
use super::{Documents, Event, Parallel, Verdict};
use crate::Result;
use crate::search::join::SketchIndex;

/// Documents that are visited at a time.
const BATCH: usize = 1024;
/// Pairs that are held at a time.
const PAIRS: usize = 1 << 18;

/// The star rule over a block of documents.
pub struct Star<'a> {
    index: &'a SketchIndex<'a>,
    block: Documents<'a>,
    states: Vec<State>,
    /// Everything before is decided.
    decided: u32,
    gatherer: Gatherer,
    batch: usize,
    pairs: usize,
}

impl<'a> Star<'a> {
    /// Memory that a star uses at most, besides [`bytes_per_document`](Self::bytes_per_document):
    /// pairs, their outcomes, and buffers to search with.
    pub const WORKING_BYTES: usize = 96 << 20;

    /// The star of the documents of `index`, all undecided, whose ranks begin with `first`.
    ///
    /// `partitions` has a value for each, and only documents of one value are compared; or it is
    /// empty.
    ///
    /// # Panics
    /// If there are neither none nor as many partitions as documents.
    pub fn new(index: &'a SketchIndex<'a>, first: u64, partitions: &'a [u64]) -> Star<'a> {
        Star {
            index,
            block: Documents::block(index.sketches(), first, partitions),
            states: vec![State::Undecided; index.count() as usize],
            decided: 0,
            gatherer: Gatherer::default(),
            batch: BATCH,
            pairs: PAIRS,
        }
    }

    /// The same with other batches, which change the order of events and nothing else.
    #[must_use]
    pub fn with_batches(mut self, documents: usize, pairs: usize) -> Star<'a> {
        self.batch = documents.max(1);
        self.pairs = pairs.max(1);
        self
    }

    /// The memory that each document takes, besides its sketch and the index.
    pub const fn bytes_per_document() -> usize {
        size_of::<State>()
    }

    /// Lets `centres`, all of earlier ranks, remove what they verify.
    ///
    /// Batches of centres have to come in keep order, before the first [`step`](Self::step).
    /// `verify(centre, member)` is called with ranks, once at most for each pair, and only while
    /// the member is undecided. `sink` gets each verdict; the set of events is always the same,
    /// their order depends on nothing but the batches.
    ///
    /// # Errors
    /// The first of `verify` or `sink`.
    pub fn remove_near(
        &mut self,
        centres: &Documents<'_>,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let asking = Asking {
            documents: *centres,
            own: None,
        };
        let numbers: Vec<u32> = centres.numbers().collect();
        for numbers in numbers.chunks(self.batch) {
            self.remove_from(0, &asking, numbers, parallel, verify, sink)?;
        }
        Ok(())
    }

    /// Visits the next batch of undecided documents; `false` if there was none.
    ///
    /// `verify` and `sink` are those of [`remove_near`](Self::remove_near).
    ///
    /// # Errors
    /// The first of `verify` or `sink`.
    pub fn step(
        &mut self,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<bool> {
        let batch = self.next_batch();
        let (Some(&first), Some(&last)) = (batch.first(), batch.last()) else {
            self.decided = self.block.count();
            return Ok(false);
        };
        let (behind, count) = (last + 1, self.block.count());
        let asking = Asking {
            documents: self.block,
            own: Some(first..behind),
        };
        // Nearly always one question each is enough; where that gives too many pairs, the batch
        // is settled first, and then its centres ask again.
        let limit = (self.pairs / batch.len()).max(1);
        let whole = self.settle_batch(&asking, &batch, count, limit, parallel, verify, sink)?;
        if !whole {
            self.settle_batch(&asking, &batch, behind, usize::MAX, parallel, verify, sink)?;
            let is_centre = |position: &u32| self.states[*position as usize] == State::Centre;
            let centres: Vec<u32> = batch.iter().copied().filter(is_centre).collect();
            self.remove_from(behind, &asking, &centres, parallel, verify, sink)?;
        }
        self.decided = behind;
        Ok(true)
    }

    /// Everything before this position is decided.
    pub fn decided(&self) -> u32 {
        self.decided
    }

    /// Whether the document at `position` was removed.
    pub fn is_removed(&self, position: u32) -> bool {
        self.states[position as usize] == State::Removed
    }

    /// The positions of the documents that are not removed, ascending: after the last step, the
    /// centres.
    pub fn centres(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.block.count()).filter(|position| !self.is_removed(*position))
    }

    /// The next undecided positions.
    fn next_batch(&self) -> Vec<u32> {
        let rest = self.decided..self.block.count();
        let undecided = rest.filter(|position| !self.is_removed(*position));
        undecided.take(self.batch).collect()
    }

    /// Settles the members of `batch` with all that is near before `end`, unless somebody has more
    /// candidates than `limit`: then nothing is done.
    #[allow(clippy::too_many_arguments)]
    fn settle_batch(
        &mut self,
        asking: &Asking<'_>,
        batch: &[u32],
        end: u32,
        limit: usize,
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<bool> {
        let (states, block) = (&self.states, &self.block);
        let queries = batch.iter().map(|position| (*position, position + 1..end));
        let (complete, pairs) = self.gatherer.gather(
            self.index,
            &asking.documents,
            queries,
            limit,
            |pair| is_wanted(states, block, &asking.documents, pair),
            parallel,
        );
        if complete < end {
            return Ok(false);
        }
        // Nobody is near before them: they are centres.
        let mut rest = pairs.iter().map(|pair| pair.member).peekable();
        for position in batch {
            while rest.next_if(|member| member < position).is_some() {}
            if rest.peek() != Some(position) {
                self.states[*position as usize] = State::Centre;
            }
        }
        let block = (self.index, &self.block);
        settle(
            block,
            asking,
            pairs,
            &mut self.states,
            parallel,
            verify,
            sink,
        )?;
        Ok(true)
    }

    /// Lets the centres that `asking` has under `numbers` remove what is near from `start` on.
    fn remove_from(
        &mut self,
        start: u32,
        asking: &Asking<'_>,
        numbers: &[u32],
        parallel: &impl Parallel,
        verify: &(impl Fn(u64, u64) -> Result<Verdict> + Sync),
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let (mut from, count) = (start, self.block.count());
        let limit = (self.pairs / numbers.len().max(1)).max(1);
        while from < count && !numbers.is_empty() {
            let (states, block) = (&self.states, &self.block);
            let queries = numbers.iter().map(|number| (*number, from..count));
            let (next, pairs) = self.gatherer.gather(
                self.index,
                &asking.documents,
                queries,
                limit,
                |pair| is_wanted(states, block, &asking.documents, pair),
                parallel,
            );
            let block = (self.index, &self.block);
            settle(
                block,
                asking,
                pairs,
                &mut self.states,
                parallel,
                verify,
                sink,
            )?;
            from = next;
        }
        Ok(())
    }
}

/// Whether a pair has to be looked at: its member is undecided, and both are in one partition.
fn is_wanted(
    states: &[State],
    block: &Documents<'_>,
    asking: &Documents<'_>,
    Pair { member, centre }: Pair,
) -> bool {
    states[member as usize] == State::Undecided
        && block.partition(member) == asking.partition(centre)
}
