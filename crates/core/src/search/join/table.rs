//! Multimap from keys to numbers, in sorted arrays.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::{Error, ErrorKind, Result};

/// Multiplicative hash that spreads keys over the buckets; odd, so that different keys stay
/// different.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Items whose keys a thread takes at a time.
const PIECE: u32 = 1 << 10;
/// Buckets that a thread sorts at a time.
const SORTED: usize = 1 << 12;

/// Spreads keys over all bits; different keys stay different.
pub(super) fn spread(key: u64) -> u64 {
    key.wrapping_mul(MULTIPLIER)
}

/// Atomic zeros, made by all threads: the first write to memory takes its time.
fn zeros<T: Default + Send>(count: usize) -> Vec<T> {
    (0..count).into_par_iter().map(|_| T::default()).collect()
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

    /// Builds a table of the pairs that `each` passes to its argument for a range of `items`: the same
    /// in every call. `check` is called now and then. Uses the current rayon pool.
    ///
    /// Counting sort by bucket, then a sort within each.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if the table does not fit; those of `check`.
    pub(super) fn build(
        items: u32,
        each: impl Fn(Range<u32>, &mut dyn FnMut(u64, u32)) + Sync,
        memory_bytes: usize,
        check: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Multimap> {
        let pieces = || {
            let piece =
                |piece: u32| piece * PIECE..items.min((piece * PIECE).saturating_add(PIECE));
            (0..items.div_ceil(PIECE)).into_par_iter().map(piece)
        };
        let for_each = |visit: &(dyn Fn(u64, u32) + Sync)| {
            pieces().try_for_each(|piece| {
                each(piece, &mut |key, number| visit(spread(key), number));
                check()
            })
        };
        let count_of = |piece| {
            let mut count = 0usize;
            each(piece, &mut |_, _| count += 1);
            check().map(|()| count)
        };
        let count = pieces().map(count_of).try_reduce(|| 0, |a, b| Ok(a + b))?;
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
        let mut starts: Vec<AtomicUsize> = zeros((1 << bits) + 2);
        for_each(&|key, _| {
            starts[(key >> shift) as usize + 2].fetch_add(1, Ordering::Relaxed);
        })?;
        let mut sum = 0;
        for start in &mut starts {
            sum += *start.get_mut();
            *start.get_mut() = sum;
        }
        let keys: Vec<AtomicU64> = zeros(count);
        let numbers: Vec<AtomicU32> = zeros(count);
        for_each(&|key, number| {
            let slot = starts[(key >> shift) as usize + 1].fetch_add(1, Ordering::Relaxed);
            keys[slot].store(key, Ordering::Relaxed);
            numbers[slot].store(number, Ordering::Relaxed);
        })?;
        starts.pop();
        // Collected in place.
        let mut table = Multimap {
            shift,
            starts: starts.into_iter().map(AtomicUsize::into_inner).collect(),
            keys: keys.into_iter().map(AtomicU64::into_inner).collect(),
            numbers: numbers.into_iter().map(AtomicU32::into_inner).collect(),
        };
        table.sort_buckets(check)?;
        Ok(table)
    }

    /// Sorts the keys of each bucket, and the numbers of each key.
    fn sort_buckets(&mut self, check: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
        let (mut keys, mut numbers) = (&mut self.keys[..], &mut self.numbers[..]);
        let mut parts = Vec::new();
        for first in (0..self.starts.len() - 1).step_by(SORTED) {
            let last = (first + SORTED).min(self.starts.len() - 1);
            let starts = &self.starts[first..=last];
            let length = starts[starts.len() - 1] - starts[0];
            let (own_keys, own_numbers);
            (own_keys, keys) = keys.split_at_mut(length);
            (own_numbers, numbers) = numbers.split_at_mut(length);
            parts.push((starts, own_keys, own_numbers));
        }
        parts.into_par_iter().try_for_each_init(
            Vec::new,
            |entries: &mut Vec<(u64, u32)>, (starts, keys, numbers)| {
                for bucket in starts.windows(2) {
                    let bucket = bucket[0] - starts[0]..bucket[1] - starts[0];
                    let (keys, numbers) = (&mut keys[bucket.clone()], &mut numbers[bucket]);
                    // Of very many equal keys, no copy is made.
                    if keys.iter().all(|key| *key == keys[0]) {
                        numbers.sort_unstable();
                        continue;
                    }
                    entries.clear();
                    entries.extend(keys.iter().copied().zip(numbers.iter().copied()));
                    entries.sort_unstable();
                    for (entry, (key, number)) in entries.iter().zip(keys.iter_mut().zip(numbers)) {
                        (*key, *number) = *entry;
                    }
                }
                check()
            },
        )
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn numbers_of_a_key_are_those_of_a_map(
            lists in prop::collection::vec(prop::collection::vec(0u64..40, 0..4), 0..3000),
            kept in any::<u64>(),
        ) {
            let mut expected: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for (keys, number) in lists.iter().zip(0..) {
                keys.iter().for_each(|key| expected.entry(*key).or_default().push(number));
            }
            let each = |items: Range<u32>, visit: &mut dyn FnMut(u64, u32)| {
                for item in items {
                    lists[item as usize].iter().for_each(|key| visit(*key, item));
                }
            };
            let build = |threads| {
                let pool = crate::threads::pool(threads).unwrap();
                let build = || Multimap::build(lists.len() as u32, each, 1 << 20, &|| Ok(()));
                pool.install(build).unwrap()
            };
            let (mut table, other) = (build(1), build(3));
            prop_assert_eq!(&table.keys, &other.keys);
            prop_assert_eq!(&table.numbers, &other.numbers);
            prop_assert_eq!(&table.starts, &other.starts);
            let list = |table: &Multimap, key| table.numbers()[table.list(key)].to_vec();
            let is_kept = |number: u32| kept >> (number % 64) & 1 == 1;
            for key in 0..41 {
                let expected = expected.get(&key).cloned().unwrap_or_default();
                prop_assert_eq!(list(&table, key), expected);
            }
            table.retain(is_kept);
            for key in 0..41 {
                let expected = expected.get(&key).cloned().unwrap_or_default();
                let expected: Vec<u32> = expected.into_iter().filter(|one| is_kept(*one)).collect();
                prop_assert_eq!(list(&table, key), expected);
            }
        }
    }
}
