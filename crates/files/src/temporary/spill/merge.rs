//! Merging of sorted runs.

use bytemuck::Pod;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use super::runs::Runs;
use crate::Result;

/// The block size for reading runs in bytes: few seeks, at the full speed of a disk.
const BLOCK_BYTES: usize = 1 << 20;
/// The minimum block size before runs are merged in levels.
const MIN_BLOCK_BYTES: usize = 1 << 16;
/// The minimum number of records of a block if there is hardly any memory.
pub(super) const MIN_BLOCK_RECORDS: usize = 8;

/// The number of runs merged at once: memory must suffice for a block of each and one of the
/// result; at least two.
pub(super) fn fan_in(memory_bytes: usize) -> usize {
    (memory_bytes / MIN_BLOCK_BYTES).saturating_sub(1).max(2)
}

/// The number of merges of all of `runs` runs at a time; at least one.
pub(super) fn at_once(runs: usize, memory_bytes: usize) -> usize {
    (memory_bytes / (runs.max(1) * MIN_BLOCK_BYTES)).max(1)
}

/// The number of records in each of `blocks` blocks.
pub(super) fn block_records<R>(memory_bytes: usize, blocks: usize) -> usize {
    let bytes = (memory_bytes / blocks.max(1)).min(BLOCK_BYTES);
    (bytes / size_of::<R>()).max(MIN_BLOCK_RECORDS)
}

/// Merges every `fan_in` runs into one.
pub(super) fn level<R: Pod + Ord>(
    runs: Runs<R>,
    fan_in: usize,
    memory_bytes: usize,
) -> Result<Runs<R>> {
    let mut longer = runs.create_beside()?;
    let block = block_records::<R>(memory_bytes, fan_in + 1);
    let mut buffer = Vec::with_capacity(block);
    for first in (0..runs.count()).step_by(fan_in) {
        let group = first..(first + fan_in).min(runs.count());
        let group = group.map(|number| runs.range(number));
        let mut merge = Merge::with_blocks(&runs, group, block)?;
        longer.begin();
        while let Some(record) = merge.next(&runs)? {
            buffer.push(record);
            if buffer.len() == block {
                longer.extend(&buffer)?;
                buffer.clear();
            }
        }
        longer.extend(&buffer)?;
        buffer.clear();
    }
    Ok(longer)
}

/// An iterator over the records of several runs, ascending.
pub(super) struct Merge<R> {
    /// The next record of each nonempty run, with the index of its cursor.
    heads: BinaryHeap<Reverse<(R, usize)>>,
    cursors: Vec<Cursor<R>>,
}

impl<R: Pod + Ord> Merge<R> {
    /// Merges all of `runs` with at most `memory_bytes` of blocks.
    pub(super) fn of(runs: &Runs<R>, memory_bytes: usize) -> Result<Merge<R>> {
        let block = block_records::<R>(memory_bytes, runs.count());
        let all = (0..runs.count()).map(|number| runs.range(number));
        Merge::with_blocks(runs, all, block)
    }

    /// Merges a range of each of some `runs`, with blocks of `block` records.
    pub(super) fn with_blocks(
        runs: &Runs<R>,
        ranges: impl Iterator<Item = Range<u64>>,
        block: usize,
    ) -> Result<Merge<R>> {
        let cursor = |range| Cursor::new(range, block);
        let mut cursors: Vec<Cursor<R>> = ranges.map(cursor).collect();
        let mut heads = BinaryHeap::with_capacity(cursors.len());
        for (number, cursor) in cursors.iter_mut().enumerate() {
            if let Some(record) = cursor.next(runs)? {
                heads.push(Reverse((record, number)));
            }
        }
        Ok(Merge { heads, cursors })
    }

    /// The next record; after an error, `None`.
    #[inline]
    pub(super) fn next(&mut self, runs: &Runs<R>) -> Result<Option<R>> {
        let Some(mut head) = self.heads.peek_mut() else {
            return Ok(None);
        };
        let Reverse((record, number)) = *head;
        match self.cursors[number].next(runs) {
            Ok(Some(next)) => head.0.0 = next,
            Ok(None) => {
                PeekMut::pop(head);
            }
            Err(error) => {
                drop(head);
                self.heads.clear();
                return Err(error);
            }
        }
        Ok(Some(record))
    }
}

/// A cursor on a run.
struct Cursor<R> {
    /// The range of records not in memory yet.
    rest: Range<u64>,
    block: Vec<R>,
    /// The next record of the block.
    at: usize,
    block_records: usize,
}

impl<R: Pod> Cursor<R> {
    fn new(run: Range<u64>, block_records: usize) -> Cursor<R> {
        Cursor {
            rest: run,
            block: Vec::new(),
            at: 0,
            block_records,
        }
    }

    #[inline]
    fn next(&mut self, runs: &Runs<R>) -> Result<Option<R>> {
        if self.at == self.block.len() && !self.refill(runs)? {
            return Ok(None);
        }
        let record = self.block[self.at];
        self.at += 1;
        Ok(Some(record))
    }

    /// Reads the next block; frees the memory of a finished run.
    #[cold]
    fn refill(&mut self, runs: &Runs<R>) -> Result<bool> {
        let left = self.rest.end - self.rest.start;
        let taken = left.min(self.block_records as u64);
        if taken == 0 {
            self.block = Vec::new();
            self.at = 0;
            return Ok(false);
        }
        self.block.resize(taken as usize, R::zeroed());
        runs.read(self.rest.start, &mut self.block)?;
        self.rest.start += taken;
        self.at = 0;
        Ok(true)
    }
}
