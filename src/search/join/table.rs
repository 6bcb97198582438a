use std::ops::Range;

use crate::{Error, ErrorKind, Result};

/// Spreads keys over the buckets, whatever they are; odd, so that different keys stay different.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Which numbers stand under a key.
pub(super) struct Table {
    /// How far a spread key is moved to become its bucket.
    shift: u32,
    /// Where each bucket starts, and the end of the last.
    starts: Vec<usize>,
    /// In bucket order, within a bucket ascending, and the numbers of one key too.
    keys: Vec<u64>,
    numbers: Vec<u32>,
}

impl Table {
    /// An entry for each key, and at most two bucket borders for every four.
    pub(super) fn bytes_for(keys: usize) -> usize {
        keys * (8 + 4) + (keys * 2 * 8).div_ceil(4)
    }

    /// The table of the keys and numbers that `each` hands over, by number, the same in every call.
    ///
    /// A counting sort by bucket, then a small sort in each.
    pub(super) fn build(
        each: impl Fn(&mut dyn FnMut(u64, u32)),
        memory_bytes: usize,
    ) -> Result<Table> {
        let each = |visit: &mut dyn FnMut(u64, u32)| {
            each(&mut |key, number| visit(key.wrapping_mul(MULTIPLIER), number));
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
        let mut numbers = vec![0; count];
        each(&mut |key, number| {
            let slot = &mut starts[(key >> shift) as usize + 1];
            keys[*slot] = key;
            numbers[*slot] = number;
            *slot += 1;
        });
        starts.pop();
        let mut table = Table {
            shift,
            starts,
            keys,
            numbers,
        };
        table.sort_buckets();
        Ok(table)
    }

    fn sort_buckets(&mut self) {
        let mut entries: Vec<(u64, u32)> = Vec::new();
        for bucket in self.starts.windows(2) {
            let bucket = bucket[0]..bucket[1];
            let (keys, numbers) = (&mut self.keys[bucket.clone()], &mut self.numbers[bucket]);
            // By number it is already.
            if keys.is_sorted() {
                continue;
            }
            entries.clear();
            entries.extend(keys.iter().copied().zip(numbers.iter().copied()));
            entries.sort_unstable();
            for (entry, (key, number)) in entries.iter().zip(keys.iter_mut().zip(numbers)) {
                (*key, *number) = *entry;
            }
        }
    }

    /// All numbers; those of a key are a part of them.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Where the numbers of a key are, ascending; one that has it twice may stand there twice.
    pub(super) fn list(&self, key: u64) -> Range<usize> {
        let key = key.wrapping_mul(MULTIPLIER);
        let bucket = (key >> self.shift) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let keys = &self.keys[start..end];
        let first = keys.partition_point(|other| *other < key);
        let behind = keys[first..].partition_point(|other| *other == key);
        start + first..start + first + behind
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.keys[..]) + size_of_val(&self.numbers[..])
    }
}
