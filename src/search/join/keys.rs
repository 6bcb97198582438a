use std::ops::Range;

use super::{Any, Near, Scratch};
use crate::sketch::{Compare, Score, Sketches};
use crate::{Error, ErrorKind, Result};

/// Spreads keys over the buckets, whatever they are; odd, so that different keys stay different.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Under which keys which sketches are found.
pub(super) struct Keys {
    /// How far a spread key is moved to become its bucket.
    shift: u32,
    /// Where each bucket starts, and the end of the last.
    starts: Vec<usize>,
    /// In bucket order, within a bucket ascending, and the positions of one key too.
    keys: Vec<u64>,
    positions: Vec<u32>,
}

impl Keys {
    /// An entry for each key of a sketch, and at most two bucket borders for every four.
    pub(super) fn bytes_for(method: &dyn Compare, sketch: &[u8]) -> usize {
        let mut count = 0usize;
        method.keys(sketch, &mut |_| count += 1);
        count * (8 + 4) + (count * 2 * 8).div_ceil(4)
    }

    /// A counting sort by bucket, then a small sort in each.
    pub(super) fn build(
        method: &dyn Compare,
        sketches: Sketches<'_>,
        memory_bytes: usize,
    ) -> Result<Keys> {
        let each = |visit: &mut dyn FnMut(u64, u32)| {
            for (sketch, position) in sketches.iter().zip(0..) {
                method.keys(sketch, &mut |key| {
                    visit(key.wrapping_mul(MULTIPLIER), position)
                });
            }
        };
        let mut count = 0usize;
        each(&mut |_, _| count += 1);
        let bits = count.checked_ilog2().unwrap_or(0).saturating_sub(2).max(1);
        let bytes = count * (8 + 4) + (8 << bits);
        if bytes > memory_bytes {
            let message = format!(
                "{count} keys of sketches need {bytes} bytes of memory: there are {memory_bytes}"
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        let shift = 64 - bits;
        // Counts stand two places later than they will end, as in the tables of fingerprints.
        let mut starts = vec![0usize; (1 << bits) + 2];
        each(&mut |key, _| starts[(key >> shift) as usize + 2] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut keys = vec![0; count];
        let mut positions = vec![0; count];
        each(&mut |key, position| {
            let slot = &mut starts[(key >> shift) as usize + 1];
            keys[*slot] = key;
            positions[*slot] = position;
            *slot += 1;
        });
        starts.pop();
        let mut table = Keys {
            shift,
            starts,
            keys,
            positions,
        };
        table.sort_buckets();
        Ok(table)
    }

    fn sort_buckets(&mut self) {
        let mut entries: Vec<(u64, u32)> = Vec::new();
        for bucket in self.starts.windows(2) {
            let bucket = bucket[0]..bucket[1];
            let (keys, positions) = (&mut self.keys[bucket.clone()], &mut self.positions[bucket]);
            // By position it is already.
            if keys.is_sorted() {
                continue;
            }
            entries.clear();
            entries.extend(keys.iter().copied().zip(positions.iter().copied()));
            entries.sort_unstable();
            for (entry, (key, position)) in entries.iter().zip(keys.iter_mut().zip(positions)) {
                (*key, *position) = *entry;
            }
        }
    }

    /// The positions of the sketches with a key; one that has it twice may stand there twice.
    fn list(&self, key: u64) -> Range<usize> {
        let key = key.wrapping_mul(MULTIPLIER);
        let bucket = (key >> self.shift) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let keys = &self.keys[start..end];
        let first = keys.partition_point(|other| *other < key);
        let behind = keys[first..].partition_point(|other| *other == key);
        start + first..start + first + behind
    }

    pub(super) fn any(
        &self,
        method: &dyn Compare,
        sketches: Sketches<'_>,
        queries: &[Any<'_>],
        scratch: &mut Scratch,
        mut sink: impl FnMut(usize, bool),
    ) {
        let lists = &mut scratch.lists;
        for (number, query) in queries.iter().enumerate() {
            lists.clear();
            method.keys(query.sketch, &mut |key| {
                lists.add(&self.positions, self.list(key), &(0..u32::MAX), 0);
            });
            let mut others = lists.each(&self.positions).map(|each| each.0);
            let is_near = |position: u32| {
                let score = method.score(query.sketch, sketches.get(position as usize));
                Some(position) != query.except && method.accepts(&score)
            };
            sink(number, others.any(is_near));
        }
    }

    pub(super) fn near(
        &self,
        method: &dyn Compare,
        sketches: Sketches<'_>,
        queries: &[Near<'_>],
        scratch: &mut Scratch,
        mut sink: impl FnMut(usize, &[(u32, Score)], u32),
    ) {
        let Scratch {
            lists,
            candidates,
            found,
            ..
        } = scratch;
        for (number, query) in queries.iter().enumerate() {
            lists.clear();
            method.keys(query.sketch, &mut |key| {
                lists.add(&self.positions, self.list(key), &query.within, 0);
            });
            let next = lists.cut(&self.positions, &query.within, query.limit);
            candidates.clear();
            candidates.extend(lists.each(&self.positions).map(|each| each.0));
            candidates.sort_unstable();
            candidates.dedup();
            found.clear();
            let scored = candidates.iter().map(|&position| {
                let other = sketches.get(position as usize);
                (position, method.score(query.sketch, other))
            });
            found.extend(scored.filter(|(_, score)| method.accepts(score)));
            sink(number, found, next);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.starts[..])
            + size_of_val(&self.keys[..])
            + size_of_val(&self.positions[..])
    }
}
