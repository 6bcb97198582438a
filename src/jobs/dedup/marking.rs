//! The leaders that have a neighbour.
//!
//! Fingerprints are joined with themselves. For all other sketches, each block of leaders has an
//! index, which is queried with all leaders. If the scope has groups, leaders of a large group are
//! compared with each other only. Those of small groups are compared together: some are marked
//! although their neighbours are in other groups, and remain without effect.

use std::ops::Range;

use crate::Result;
use crate::engine::{Progress, Stage};
use crate::search::hamming::self_join::Watch;
use crate::search::join::{SketchJoin, SketchSource};
use crate::sketch::Sketches;

use super::bits::Bits;
use super::leaders::{Block, Leaders};
use super::memory;
use super::near::NearSearch;
use super::neighbours::have_neighbours;

impl NearSearch<'_> {
    /// The ranks of the leaders that have a neighbour.
    pub(super) fn mark(&self, all: &Leaders<'_>) -> Result<Bits> {
        let mut marks = Bits::none_of(all.count);
        match SketchJoin::of(self.method) {
            Some(join) => self.mark_by_join(all, join, &mut marks)?,
            None => self.mark_by_index(all, &mut marks)?,
        }
        self.progress.end(0);
        Ok(marks)
    }

    fn mark_by_join(&self, all: &Leaders<'_>, join: SketchJoin, marks: &mut Bits) -> Result<()> {
        let parts = all.compared_parts()?;
        self.progress
            .begin(Stage::Mark, parts.iter().map(ranks_in).sum());
        let free = self.space.bytes(memory::BLOCKS);
        let memory_bytes = free.saturating_sub(Leaders::batch_bytes(self.method));
        let mut begin = 0;
        for ranges in &parts {
            let stage = PartProgress {
                progress: self.progress,
                begin,
                ranks: ranks_in(ranges),
            };
            let sketches = PartSketches {
                leaders: all,
                batches: all.batches_of(ranges)?,
                count: stage.ranks as u32,
            };
            let near = join.any(&sketches, memory_bytes, self.resources.level, &stage)?;
            for (rank, position) in ranges.iter().cloned().flatten().zip(0..) {
                if near.contains(position) {
                    marks.insert(rank as u32);
                }
            }
            begin += stage.ranks;
        }
        Ok(())
    }

    fn mark_by_index(&self, all: &Leaders<'_>, marks: &mut Bits) -> Result<()> {
        let blocks = self.blocks(all, 0..all.count, 0, 0)?;
        let compared = blocks.iter().map(|ranks| all.compared_with(ranks));
        let compared: Vec<[Range<u64>; 2]> = compared.collect::<Result<_>>()?;
        let queries = compared.iter().map(ranks_in).sum();
        self.progress.begin(Stage::Mark, queries);
        let (mut block, mut queries) = (Block::default(), Block::default());
        for (ranks, compared) in blocks.into_iter().zip(compared) {
            all.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            for batch in all.batches_of(&compared)? {
                self.progress.check()?;
                all.read(batch.clone(), &mut queries)?;
                let sketches = queries.all(self.method);
                let marked = have_neighbours(&index, block.first, sketches, queries.first);
                for (rank, is_marked) in batch.clone().zip(marked) {
                    if is_marked {
                        marks.insert(rank as u32);
                    }
                }
                self.progress.advance(batch.end - batch.start);
            }
        }
        Ok(())
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

/// The progress of a part, as ranks of the stage.
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
