//! Index of sets by their rare elements: finds the sets that may be similar to another one.
//!
//! Every set is in the lists of the elements of its [prefix](super::set_prefix). Pages of one
//! template share its elements. If a page has little of its own, some of these are in its prefix,
//! and their lists are long. But sets of about equal size have to share several elements. If these
//! are more than L, every similar set is in one of the other lists without the L longest. So these
//! are read only for sets of other sizes.

use std::cmp::Reverse;
use std::ops::Range;

use super::set_prefix::{Prefix, SizeBounds};
use crate::dedup::Parallel;
use crate::search::join::Rarity;
use crate::text::LeastSimilarity;
use crate::{Error, Result};

/// Sets whose elements are counted, for the order.
const SAMPLE: usize = 1 << 14;
/// Counters of elements, which may share one.
const COUNTERS: usize = 1 << 20;
/// Sets of one task.
const SETS: usize = 16;
/// Tasks whose entries are in memory at a time.
const TASKS: usize = 64;

/// Memory of an entry, with its share of the bucket borders, which are at most one for eight.
const ENTRY_BYTES: usize = size_of::<u64>() + 1;
/// Memory of a set, besides its entries: its position and size, and during construction its number
/// and slot.
const SET_BYTES: usize = 4 * size_of::<u32>();

/// The memory in bytes of an index of `sets` sets of `elements` elements together, by which
/// documents of a resemblance of at least `least` are found. Saturates.
pub fn set_index_bytes(sets: u64, elements: u64, least: LeastSimilarity) -> usize {
    let rest = u128::from(elements) * u128::from(1000 - least.thousandths.min(1000)) / 1000;
    let sets = u128::from(sets);
    let bytes = (rest + sets) * ENTRY_BYTES as u128 + sets * SET_BYTES as u128;
    usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .saturating_add(COUNTERS * Rarity::BYTES)
}

/// Index of sets, found by positions.
///
/// Sets have *slots*, by size, then by position.
pub(super) struct SetIndex {
    rarity: Rarity,
    least: LeastSimilarity,
    /// The position of each slot.
    positions: Vec<u32>,
    /// The size of the set of each slot.
    sizes: Vec<u32>,
    /// The right shift from the hash of an entry to its bucket.
    shift: u32,
    /// The start of each bucket, and the end of the last.
    starts: Vec<u32>,
    /// The upper 32 bits of an element, and a slot; ascending.
    entries: Vec<u64>,
}

/// Buffers of a search.
#[derive(Default)]
pub(super) struct SetIndexBuffers {
    prefix: Prefix,
    /// The entries of each element of the prefix, the longest list first.
    lists: Vec<Range<usize>>,
}

/// Some of the sets, during construction.
struct SetIndexTask<'p> {
    positions: &'p [u32],
    /// The number of the first set.
    first: u32,
    /// The size of each set, and the end of its entries.
    sets: Vec<(u32, usize)>,
    entries: Vec<u64>,
    error: Option<Error>,
}

/// Sets, numbered in the order of construction.
#[derive(Default)]
struct Collected {
    sizes: Vec<u32>,
    /// The upper 32 bits of an element, and the number of a set.
    entries: Vec<u64>,
}

impl SetIndex {
    /// An index of the sets at `positions`, or of the first of them that fit into `memory_bytes`;
    /// also returns how many do. `read` replaces the contents of its buffer by the set at a
    /// position; elements are uniform hashes.
    ///
    /// # Errors
    /// Errors of `read`.
    pub fn build(
        positions: &[u32],
        read: impl Fn(u32, &mut Vec<u64>) -> Result<()> + Sync,
        least: LeastSimilarity,
        memory_bytes: usize,
        parallel: &impl Parallel,
    ) -> Result<(SetIndex, usize)> {
        let rarity = Rarity::new(COUNTERS);
        let mut set = Vec::new();
        let step = positions.len().div_ceil(SAMPLE).max(1);
        for position in positions.iter().step_by(step) {
            read(*position, &mut set)?;
            set.iter().for_each(|element| rarity.count(*element));
        }
        let most_bytes = memory_bytes.saturating_sub(rarity.bytes());
        let mut all = Collected::default();
        for chunk in positions.chunks(SETS * TASKS) {
            let firsts = (all.sizes.len() as u32..).step_by(SETS);
            let mut tasks: Vec<SetIndexTask<'_>> = chunk
                .chunks(SETS)
                .zip(firsts)
                .map(SetIndexTask::new)
                .collect();
            parallel.for_each(&mut tasks, |task| {
                task.error = task.work(&read, least, &rarity).err();
            });
            if !all.append(tasks, most_bytes)? {
                break;
            }
        }
        let count = all.sizes.len();
        let index = SetIndex::of(rarity, least, &positions[..count], all);
        Ok((index, count))
    }

    fn of(
        rarity: Rarity,
        least: LeastSimilarity,
        positions: &[u32],
        Collected { sizes, mut entries }: Collected,
    ) -> SetIndex {
        let mut order: Vec<u32> = (0..sizes.len() as u32).collect();
        order.sort_unstable_by_key(|&number| {
            let number = number as usize;
            (sizes[number], positions[number])
        });
        let mut slots = vec![0; order.len()];
        for (number, slot) in order.iter().zip(0u32..) {
            slots[*number as usize] = slot;
        }
        for entry in &mut entries {
            *entry = *entry >> 32 << 32 | u64::from(slots[*entry as u32 as usize]);
        }
        entries.sort_unstable();
        let bits = entries.len().checked_ilog2().unwrap_or(0).saturating_sub(3);
        let bits = bits.clamp(1, 31);
        let shift = u64::BITS - bits;
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (entry, number) in entries.iter().zip(0..) {
            starts.resize(starts.len().max((entry >> shift) as usize + 1), number);
        }
        starts.resize((1 << bits) + 1, entries.len() as u32);
        let by_slot = |values: &[u32]| {
            order
                .iter()
                .map(|number| values[*number as usize])
                .collect()
        };
        SetIndex {
            rarity,
            least,
            positions: by_slot(positions),
            sizes: by_slot(&sizes),
            shift,
            starts,
            entries,
        }
    }

    /// Replaces the contents of `found` by the positions from `start` on whose sets may be similar
    /// to `set`, ascending. Leaves out none that is.
    pub fn find(
        &self,
        set: &[u64],
        start: u32,
        buffers: &mut SetIndexBuffers,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        let bounds = SizeBounds {
            size: set.len() as u64,
            thousandths: self.least.thousandths.into(),
        };
        let slots = self.slots(bounds.similar());
        let SetIndexBuffers { prefix, lists } = buffers;
        lists.clear();
        let elements = prefix.of(set, self.least, &self.rarity);
        lists.extend(elements.map(|element| self.list(element, &slots)));
        lists.sort_unstable_by_key(|list| Reverse(list.len()));
        let (long, skipped) = self.skipped(bounds, lists, &slots);
        let mut take = |list: &[u64]| {
            let slots = list.iter().map(|entry| *entry as u32);
            let positions = slots.map(|slot| self.positions[slot as usize]);
            found.extend(positions.filter(|position| *position >= start));
        };
        for list in &lists[..long] {
            let list = &self.entries[list.clone()];
            let before = |slot: u32| list.partition_point(|entry| (*entry as u32) < slot);
            take(&list[..before(skipped.start)]);
            take(&list[before(skipped.end)..]);
        }
        for list in &lists[long..] {
            take(&self.entries[list.clone()]);
        }
        found.sort_unstable();
        found.dedup();
    }

    /// The slots of sets of these sizes.
    fn slots(&self, sizes: Range<u64>) -> Range<u32> {
        let before = |bound| self.sizes.partition_point(|size| u64::from(*size) < bound) as u32;
        let start = before(sizes.start);
        start..before(sizes.end).max(start)
    }

    /// The entries of an element in `slots`.
    fn list(&self, element: u64, slots: &Range<u32>) -> Range<usize> {
        let bucket = (element >> self.shift) as usize;
        let first = self.starts[bucket] as usize;
        let entries = &self.entries[first..self.starts[bucket + 1] as usize];
        let border = |slot: u32| {
            let border = element >> 32 << 32 | u64::from(slot);
            first + entries.partition_point(|entry| *entry < border)
        };
        border(slots.start)..border(slots.end)
    }

    /// How many of `lists`, the longest first, are not read, and for which slots. Chooses what
    /// leaves about the fewest entries.
    fn skipped(
        &self,
        bounds: SizeBounds,
        lists: &[Range<usize>],
        slots: &Range<u32>,
    ) -> (usize, Range<u32>) {
        let mut best = (0.0, 0, slots.start..slots.start);
        let mut long = 1;
        while let Some(longest) = lists.get(..long) {
            let Some(sizes) = bounds.sharing_more_than(long as u64) else {
                break;
            };
            let skipped = self.slots(sizes);
            let share = skipped.len() as f64 / slots.len().max(1) as f64;
            let entries = longest.iter().map(Range::len).sum::<usize>() as f64 * share;
            if entries > best.0 {
                best = (entries, long, skipped);
            }
            long += long.div_ceil(2);
        }
        (best.1, best.2)
    }
}

impl Collected {
    /// Appends the sets of `tasks` until they exceed `most_bytes`; `false` if they do.
    fn append(&mut self, tasks: Vec<SetIndexTask<'_>>, most_bytes: usize) -> Result<bool> {
        for task in tasks {
            if let Some(error) = task.error {
                return Err(error);
            }
            let fits = |&(number, &(_, end)): &(usize, &(u32, usize))| {
                let sets = self.sizes.len() + number + 1;
                let entries = self.entries.len() + end;
                let bytes = sets * SET_BYTES + entries * ENTRY_BYTES;
                bytes <= most_bytes && entries <= u32::MAX as usize
            };
            let count = task.sets.iter().enumerate().take_while(fits).count();
            let fitting = &task.sets[..count];
            let end = fitting.last().map_or(0, |(_, end)| *end);
            self.entries.reserve_exact(end);
            self.entries.extend_from_slice(&task.entries[..end]);
            self.sizes.extend(fitting.iter().map(|(size, _)| *size));
            if count < task.sets.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<'p> SetIndexTask<'p> {
    fn new((positions, first): (&'p [u32], u32)) -> SetIndexTask<'p> {
        SetIndexTask {
            positions,
            first,
            sets: Vec::with_capacity(positions.len()),
            entries: Vec::new(),
            error: None,
        }
    }

    fn work(
        &mut self,
        read: &impl Fn(u32, &mut Vec<u64>) -> Result<()>,
        least: LeastSimilarity,
        rarity: &Rarity,
    ) -> Result<()> {
        let (mut set, mut prefix) = (Vec::new(), Prefix::default());
        for (position, number) in self.positions.iter().zip(self.first..) {
            read(*position, &mut set)?;
            let elements = prefix.of(&set, least, rarity);
            let entry = |element: u64| element >> 32 << 32 | u64::from(number);
            self.entries.extend(elements.map(entry));
            let size = u32::try_from(set.len()).unwrap_or(u32::MAX);
            self.sets.push((size, self.entries.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedup::OneThread;
    use crate::text::shingles::sort_to_set;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// Sets with some elements of a common part, and some of their own.
    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let own = prop::collection::vec(any::<u64>(), 0..12);
        let set = (0..40usize, 0..40usize, own);
        prop::collection::vec(set, 0..40).prop_map(|parts| {
            let set = |(from, count, own): (usize, usize, Vec<u64>)| {
                let common = (from..from + count).map(|number| xxh3_64(&number.to_le_bytes()));
                let mut set: Vec<u64> = common.chain(own).collect();
                sort_to_set(&mut set);
                set
            };
            parts.into_iter().map(set).collect()
        })
    }

    fn read(sets: &[Vec<u64>]) -> impl Fn(u32, &mut Vec<u64>) -> Result<()> + Sync {
        |position, set| {
            set.clone_from(&sets[position as usize]);
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn similar_sets_are_found(
            sets in sets(),
            thousandths in prop_oneof![1..=1000u32, Just(1), Just(1000)],
            start in 0..45u32,
            memory in 0..4000usize,
        ) {
            let positions: Vec<u32> = (0..sets.len() as u32).collect();
            let least = LeastSimilarity::resemblance(thousandths);
            for memory in [usize::MAX, 2 * COUNTERS + memory] {
                let built = SetIndex::build(&positions, read(&sets), least, memory, &OneThread);
                let (index, count) = built.unwrap();
                prop_assert!(memory < usize::MAX || count == sets.len());
                prop_assert!(index.entries.len() * 9 + 2 * COUNTERS <= memory);
                let (mut buffers, mut found) = (SetIndexBuffers::default(), vec![7]);
                for set in &sets {
                    index.find(set, start, &mut buffers, &mut found);
                    prop_assert!(found.is_sorted_by(|a, b| a < b));
                    prop_assert!(found.iter().all(|found| (start..count as u32).contains(found)));
                    for position in start..count as u32 {
                        let is_similar = least.reached(set, &sets[position as usize]).is_some();
                        prop_assert!(!is_similar || found.contains(&position));
                    }
                }
            }
        }
    }

    #[test]
    fn pages_of_a_template_find_themselves_only() {
        for own in [14, 20, 32, 60] {
            let set = |page: u64| {
                let hash = |number: u64| xxh3_64(&number.to_le_bytes());
                let own = (1..=own + page % 3).map(|own| hash(1000 * page + own));
                let mut set: Vec<u64> = (1..=90).map(hash).chain(own).collect();
                sort_to_set(&mut set);
                set
            };
            let sets: Vec<Vec<u64>> = (1..3000).map(set).collect();
            let positions: Vec<u32> = (0..sets.len() as u32).collect();
            let least = LeastSimilarity::resemblance(800);
            let built = SetIndex::build(&positions, read(&sets), least, usize::MAX, &OneThread);
            let index = built.unwrap().0;
            let (mut buffers, mut found, mut all) = (SetIndexBuffers::default(), Vec::new(), 0);
            for (set, position) in sets.iter().zip(0..) {
                index.find(set, 0, &mut buffers, &mut found);
                assert!(found.contains(&position));
                all += found.len();
            }
            assert!(all < 2 * sets.len(), "{all} found by {} sets", sets.len());
        }
    }

    #[test]
    fn errors_of_reading_come_back() {
        let fail = |_, _: &mut Vec<u64>| Err(Error::new(crate::ErrorKind::Read, "gone"));
        let least = LeastSimilarity::resemblance(800);
        let built = SetIndex::build(&[3], fail, least, usize::MAX, &OneThread);
        assert_eq!(built.err().unwrap().to_string(), "gone");
    }
}
