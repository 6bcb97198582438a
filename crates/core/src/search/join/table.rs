//! Multimap from keys to numbers, in sorted arrays.

use std::ops::Range;

use crate::{Error, ErrorKind, Result};

/// Multiplicative hash that spreads keys over the buckets; odd, so that different keys stay
/// different.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Buckets that are sorted between two checks for interruption.
const CHECKED: usize = 1 << 16;

/// Spreads keys over all bits; different keys stay different.
pub(super) fn spread(key: u64) -> u64 {
    key.wrapping_mul(MULTIPLIER)
}

/// Multimap from a key to numbers.
pub(super) struct Multimap {
    /// The right shift from a hashed key to its bucket.
    shift: u32,
    /// The start of each bucket, and the end of the last.
    starts: Vec<usize>,
    /// Hashed keys in ascending order; the numbers of one key are ascending too.
    keys: Vec<u64>,
    numbers: Vec<u32>,
}

impl Multimap {
    /// Memory for `keys` keys: an entry for each, and at most two bucket borders for every four.
    pub(super) fn bytes_for(keys: usize) -> usize {
        keys * (8 + 4) + (keys * 2 * 8).div_ceil(4)
    }

    /// Builds a table of the pairs that `each` passes to its argument: sorted by number, the same
    /// in every call.
    ///
    /// Counting sort by bucket, then a sort within each. `check` is called now and then.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the table does not fit; those of `each` and `check`.
    pub(super) fn build(
        each: impl Fn(&mut dyn FnMut(u64, u32)) -> Result<()>,
        memory_bytes: usize,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Multimap> {
        let each =
            |visit: &mut dyn FnMut(u64, u32)| each(&mut |key, number| visit(spread(key), number));
        let mut count = 0usize;
        each(&mut |_, _| count += 1)?;
        let bits = count.checked_ilog2().unwrap_or(0).saturating_sub(2).max(1);
        let bytes = count * (8 + 4) + (8 << bits);
        if bytes > memory_bytes {
            let message = format!(
                "{count} keys of sketches need {bytes} bytes of memory: there are {memory_bytes}"
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        let shift = 64 - bits;
        // Counts are stored two slots after their bucket, as in the tables of fingerprints.
        let mut starts = vec![0usize; (1 << bits) + 2];
        each(&mut |key, _| starts[(key >> shift) as usize + 2] += 1)?;
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
        })?;
        starts.pop();
        let mut table = Multimap {
            shift,
            starts,
            keys,
            numbers,
        };
        table.sort_buckets(check)?;
        Ok(table)
    }

    fn sort_buckets(&mut self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut entries: Vec<(u64, u32)> = Vec::new();
        for (number, bucket) in self.starts.windows(2).enumerate() {
            if number % CHECKED == 0 {
                check()?;
            }
            let bucket = bucket[0]..bucket[1];
            let (keys, numbers) = (&mut self.keys[bucket.clone()], &mut self.numbers[bucket]);
            // The numbers are sorted already.
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
        Ok(())
    }

    /// Drops the numbers for which `keep` does not hold. O(n), in place.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let (mut end, mut start) = (0, 0);
        for bucket in 0..self.starts.len() - 1 {
            let behind = self.starts[bucket + 1];
            for slot in start..behind {
                if keep(self.numbers[slot]) {
                    self.numbers[end] = self.numbers[slot];
                    self.keys[end] = self.keys[slot];
                    end += 1;
                }
            }
            start = behind;
            self.starts[bucket + 1] = end;
        }
        self.numbers.truncate(end);
        self.keys.truncate(end);
    }

    /// All numbers; those of a key are contiguous.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The range of a key in [`numbers`](Self::numbers), where they ascend. A number added twice
    /// under one key occurs twice.
    pub(super) fn list(&self, key: u64) -> Range<usize> {
        let key = spread(key);
        let bucket = (key >> self.shift) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let keys = &self.keys[start..end];
        let first = keys.partition_point(|other| *other < key);
        let count = keys[first..].partition_point(|other| *other == key);
        start + first..start + first + count
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.keys[..]) + size_of_val(&self.numbers[..])
    }
}
