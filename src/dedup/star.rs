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

use super::gather::{FEW, Gatherer, Pair, neighbours_of_each};
use super::settle::{Asking, State, settle};
use super::sweep::sweep;
use super::{Documents, Event, Judge, Parallel};
use crate::Result;
use crate::search::join::SketchIndex;

/// Documents that are visited at a time.
const BATCH: usize = 1024;
/// The same where they have very many neighbours: all pairs of a batch are compared.
const DENSE_BATCH: usize = 256;
/// Pairs that are held at a time.
const PAIRS: usize = 1 << 18;
/// Neighbours that a few centres may have, for each pair: a pair takes more work and memory.
const NEIGHBOURS: usize = 16;

/// The star rule over a block of documents.
pub struct Star<'a> {
    index: &'a SketchIndex<'a>,
    block: Documents<'a>,
    states: Vec<State>,
    /// Everything before is decided.
    decided: u32,
    /// Whether those who asked last had very many neighbours.
    is_dense: bool,
    refused: u64,
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
            is_dense: false,
            refused: 0,
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
    /// `judge` is asked with the ranks of centre and member, once at most for each pair, and only
    /// while the member is undecided. `sink` gets each removal, and each refusal that the judge
    /// wants to be told of; the set of events is always the same, their order depends on nothing
    /// but the batches.
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
        let asking = Asking {
            documents: *centres,
            own: None,
        };
        let numbers: Vec<u32> = centres.numbers().collect();
        for numbers in numbers.chunks(self.batch) {
            self.remove_from(0, &asking, numbers, parallel, judge, sink)?;
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
        let batch = self.next_batch();
        let (Some(&first), Some(&last)) = (batch.first(), batch.last()) else {
            self.decided = self.block.count();
            return Ok(false);
        };
        let behind = last + 1;
        let asking = Asking {
            documents: self.block,
            own: Some(first..behind),
        };
        // Mostly one question each is enough; where that gives too many pairs, the batch is
        // settled first, and then its centres ask.
        let mut pairs = None;
        if !self.is_dense {
            pairs = self.near(&asking, &batch, |position| position + 1, parallel);
            self.is_dense = pairs.is_none();
        }
        match pairs {
            Some(pairs) => self.settle(&asking, &batch, &pairs, parallel, judge, sink)?,
            None => {
                judge.prepare()?;
                let pairs = self.pairs_of(&batch, parallel);
                self.settle(&asking, &batch, &pairs, parallel, judge, sink)?;
                let is_centre = |position: &u32| self.states[*position as usize] == State::Centre;
                let centres: Vec<u32> = batch.iter().copied().filter(is_centre).collect();
                self.remove_from(behind, &asking, &centres, parallel, judge, sink)?;
            }
        }
        self.decided = behind;
        Ok(true)
    }

    /// How many pairs were refused, told or not.
    pub fn refused(&self) -> u64 {
        self.refused
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
        let most = match self.is_dense {
            true => self.batch.min(DENSE_BATCH),
            false => self.batch,
        };
        undecided.take(most).collect()
    }

    /// What is near those that `asking` has under `numbers`, from the position that `start` gives
    /// for each; nothing if somebody has too many candidates.
    fn near(
        &mut self,
        asking: &Asking<'_>,
        numbers: &[u32],
        start: impl Fn(u32) -> u32,
        parallel: &impl Parallel,
    ) -> Option<Vec<Pair>> {
        let (states, block, count) = (&self.states, &self.block, self.block.count());
        let found = self.gatherer.gather(
            self.index,
            &asking.documents,
            numbers
                .iter()
                .map(|number| (*number, start(*number)..count)),
            (self.pairs / numbers.len().max(1)).max(1),
            |pair| is_wanted(states, block, &asking.documents, pair),
            parallel,
        );
        (found.end >= count).then(|| found.pairs())
    }

    /// The pairs of near documents of a batch, by comparing all of it.
    fn pairs_of(&self, batch: &[u32], parallel: &impl Parallel) -> Vec<Pair> {
        let (method, block) = (self.index.method(), &self.block);
        let mut rows: Vec<(usize, Vec<Pair>)> = (0..batch.len()).map(|n| (n, vec![])).collect();
        parallel.for_each(&mut rows, |(number, pairs)| {
            let member = batch[*number];
            let sketch = block.sketch(member);
            let near = batch[..*number].iter().filter(|&&centre| {
                block.partition(member) == block.partition(centre)
                    && method.accepts(&method.score(block.sketch(centre), sketch))
            });
            pairs.extend(near.map(|&centre| Pair { member, centre }));
        });
        rows.into_iter().flat_map(|(_, pairs)| pairs).collect()
    }

    /// Settles the pairs of a batch with one another, and with what is behind it as far as there
    /// are such pairs.
    fn settle(
        &mut self,
        asking: &Asking<'_>,
        batch: &[u32],
        pairs: &[Pair],
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        // Nobody is near before them: they are centres.
        let mut rest = pairs.iter().map(|pair| pair.member).peekable();
        for position in batch {
            while rest.next_if(|member| member < position).is_some() {}
            if rest.peek() != Some(position) {
                self.states[*position as usize] = State::Centre;
            }
        }
        let (block, states) = ((self.index, &self.block), &mut self.states);
        self.refused += settle(block, asking, pairs, states, parallel, judge, sink)?;
        Ok(())
    }

    /// Lets the centres that `asking` has under `numbers` remove what is near from `start` on.
    fn remove_from(
        &mut self,
        start: u32,
        asking: &Asking<'_>,
        numbers: &[u32],
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        if !self.is_dense {
            if let Some(pairs) = self.near(asking, numbers, |_| start, parallel) {
                let (block, states) = ((self.index, &self.block), &mut self.states);
                self.refused += settle(block, asking, &pairs, states, parallel, judge, sink)?;
                return Ok(());
            }
            judge.prepare()?;
        }
        let mut most = 0;
        for few in numbers.chunks(FEW) {
            most = most.max(self.sweep(start, asking, few, parallel, judge, sink)?);
        }
        self.is_dense = most > self.pairs / self.batch;
        Ok(())
    }

    /// The same for a few centres with very many neighbours; returns how many one has at most.
    fn sweep(
        &mut self,
        start: u32,
        asking: &Asking<'_>,
        few: &[u32],
        parallel: &impl Parallel,
        judge: &impl Judge,
        sink: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<usize> {
        let (mut from, count) = (start, self.block.count());
        let limit = neighbours_of_each(few.len(), NEIGHBOURS * self.pairs, self.index);
        let mut most = 0;
        while from < count {
            let (states, block) = (&self.states, &self.block);
            let found = self.gatherer.gather(
                self.index,
                &asking.documents,
                few.iter().map(|number| (*number, from..count)),
                limit,
                |pair| is_wanted(states, block, &asking.documents, pair),
                parallel,
            );
            let lists: Vec<(u32, &[u32])> = found.lists().collect();
            let lengths = lists.iter().map(|(_, list)| list.len());
            most = most.max(lengths.max().unwrap_or_default());
            let (block, states) = ((self.index, block), &mut self.states);
            let centres = &asking.documents;
            self.refused += sweep(block, centres, &lists, states, parallel, judge, sink)?;
            from = found.end;
        }
        Ok(most)
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
