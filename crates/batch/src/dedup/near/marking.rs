//! The leaders that have a neighbour.
//!
//! Sketches are joined with themselves: fingerprints by their bits, others by their keys. For methods
//! that have to compare the sketches of a shared key, an index of those that share one is queried.
//! For methods whose sketches are vectors, an index of all leaders is queried, block by block.
//!
//! If the scope has groups, leaders of a large group are compared with each other only. Those of
//! small groups are compared together: some are marked although their neighbours are in other groups,
//! which costs time and changes nothing.

use std::ops::Range;

use crate::Result;
use simtool_core::search::hamming::self_join::Watch;
use simtool_core::search::join::{SketchJoin, SketchSource};
use simtool_core::sketch::Sketches;
use simtool_engine::{Progress, Stage};

use super::leaders::{Block, Leaders};
use super::neighbours::have_neighbours;
use super::search::NearSearch;
use crate::dedup::memory;
use crate::table::bits::Bits;

impl NearSearch<'_> {
    /// The ranks of the leaders that have a neighbour. Begins the stage.
    pub(crate) fn mark(&self, all: &Leaders<'_>) -> Result<Bits> {
        let join = SketchJoin::of(self.method);
        let steps = if join.is_none_or(SketchJoin::decides) {
            1
        } else {
            2
        };
        self.context
            .progress()
            .begin(Stage::Mark, steps * all.count);
        self.marks(all, all.count)
    }

    /// The marks, with `shown` ranks as the progress of each step.
    pub(crate) fn marks(&self, all: &Leaders<'_>, shown: u64) -> Result<Bits> {
        let step = |number| PartProgress {
            progress: self.context.progress(),
            begin: number * shown,
            ranks: shown,
        };
        let Some(join) = SketchJoin::of(self.method) else {
            return self.mark_by_index(all, step(0));
        };
        let joined = self.mark_by_join(all, join, shown > 0)?;
        match join.decides() {
            true => Ok(joined),
            false => self.mark_among(all, &joined, step(1)),
        }
    }

    fn mark_by_join(
        &self,
        all: &Leaders<'_>,
        join: SketchJoin<'_>,
        is_shown: bool,
    ) -> Result<Bits> {
        let mut marks = Bits::none_of(all.count);
        let free = self.context.space.bytes(memory::BLOCKS);
        let memory_bytes = free.saturating_sub(Leaders::batch_bytes(self.method));
        let mut begin = 0;
        for ranges in &all.compared_parts()? {
            let count = ranks_in(ranges);
            let step = PartProgress {
                progress: self.context.progress(),
                begin,
                ranks: if is_shown { count } else { 0 },
            };
            let sketches = PartSketches {
                leaders: all,
                batches: all.batches_of(ranges)?,
                count: count as u32,
            };
            let near = join.any(
                &sketches,
                memory_bytes,
                self.context.run().resources.level,
                &step,
            )?;
            for (rank, position) in ranges.iter().cloned().flatten().zip(0..) {
                if near.contains(position) {
                    marks.insert(rank as u32);
                }
            }
            begin += step.ranks;
        }
        Ok(marks)
    }

    /// The leaders, of some, that have a neighbour among them.
    fn mark_among(&self, all: &Leaders<'_>, some: &Bits, step: PartProgress<'_>) -> Result<Bits> {
        let ranks = || (0..all.count).filter(|rank| some.contains(*rank as u32));
        let selected = all.select(ranks(), &self.context.space)?;
        let found = self.mark_by_index(&selected, step)?;
        let mut marks = Bits::none_of(all.count);
        for (rank, position) in ranks().zip(0..) {
            if found.contains(position) {
                marks.insert(rank as u32);
            }
        }
        Ok(marks)
    }

    fn mark_by_index(&self, all: &Leaders<'_>, step: PartProgress<'_>) -> Result<Bits> {
        let mut marks = Bits::none_of(all.count);
        let blocks = self.blocks(all, 0..all.count, 0, 0)?;
        let compared = blocks.iter().map(|ranks| all.compared_with(ranks));
        let compared: Vec<[Range<u64>; 2]> = compared.collect::<Result<_>>()?;
        let total: u64 = compared.iter().map(ranks_in).sum();
        let mut done = 0;
        let (mut block, mut queries) = (Block::default(), Block::default());
        for (ranks, compared) in blocks.into_iter().zip(compared) {
            all.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            for batch in all.batches_of(&compared)? {
                step.reached(done as f64 / total as f64)?;
                all.read(batch.clone(), &mut queries)?;
                let sketches = queries.all(self.method);
                let marked = have_neighbours(&index, block.first, sketches, queries.first);
                for (rank, is_marked) in batch.clone().zip(marked) {
                    if is_marked {
                        marks.insert(rank as u32);
                    }
                }
                done += batch.end - batch.start;
            }
        }
        Ok(marks)
    }
}

fn ranks_in(ranges: &[Range<u64>; 2]) -> u64 {
    ranges.iter().map(|ranks| ranks.end - ranks.start).sum()
}

/// The sketches of leaders that are compared with each other.
struct PartSketches<'a> {
    leaders: &'a Leaders<'a>,
    batches: Vec<Range<u64>>,
    count: u32,
}

impl SketchSource for PartSketches<'_> {
    fn count(&self) -> u32 {
        self.count
    }

    fn for_each(&self, visit: &mut dyn FnMut(Sketches<'_>) -> Result<()>) -> Result<()> {
        let mut block = Block::default();
        self.batches.iter().try_for_each(|batch| {
            self.leaders.read(batch.clone(), &mut block)?;
            visit(block.all(self.leaders.method()))
        })
    }
}

/// The progress of a part of the stage, as ranks.
struct PartProgress<'a> {
    progress: &'a Progress,
    begin: u64,
    ranks: u64,
}

impl Watch for PartProgress<'_> {
    fn reached(&self, share: f64) -> Result<()> {
        let done = (share * self.ranks as f64) as u64;
        self.progress.advance_to(self.begin + done);
        self.progress.check()
    }
}
