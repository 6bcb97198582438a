//! The sorter: a buffer, and sorted runs if it overflows.

use bytemuck::Pod;
use std::path::{Path, PathBuf};

use super::merge::{self, Merge};
use super::parts::SortedParts;
use super::runs::{Runs, SortedRecords};
use crate::faults::Faults;
use crate::{Error, ErrorKind, Result};

/// The initial size of a buffer in bytes; it doubles up to the bound.
const FIRST_BYTES: usize = 1 << 16;

/// Sorts records of a fixed size in bounded memory.
///
/// The result depends only on the records, not on the bound or the directory, provided that records
/// which compare equal are identical.
pub struct Sorter<R> {
    directory: PathBuf,
    memory_bytes: usize,
    sort: fn(&mut [R]),
    combine: fn(&mut Vec<R>),
    buffer: Vec<R>,
    runs: Option<Runs<R>>,
    faults: Faults,
}

impl<R: Pod + Ord> Sorter<R> {
    /// A sorter that uses at most `memory_bytes` for records and buffers, including reading the
    /// result, and writes further records to `directory`.
    ///
    /// A bound below [`least_memory_bytes`](Self::least_memory_bytes) is raised to it. The
    /// directory is not used before it is needed.
    pub fn new(directory: &Path, memory_bytes: usize) -> Sorter<R> {
        Sorter::with_sort(directory, memory_bytes, <[R]>::sort_unstable)
    }

    /// Like [`new`](Self::new), with the function that sorts a buffer in place, for example by
    /// several threads.
    ///
    /// `sort` must sort the records in ascending order, with at most constant memory for each
    /// thread.
    pub fn with_sort(directory: &Path, memory_bytes: usize, sort: fn(&mut [R])) -> Sorter<R> {
        const { assert!(size_of::<R>() > 0, "records have a size") };
        Sorter {
            directory: directory.to_owned(),
            memory_bytes: memory_bytes.max(Self::least_memory_bytes()),
            sort,
            combine: |_| (),
            buffer: Vec::new(),
            runs: None,
            faults: Faults::default(),
        }
    }

    /// Sets a function that combines several records into one: `combine` gets sorted records and
    /// may reduce them to fewer, sorted ones. Records of different runs are not combined, so the
    /// caller must combine the result once more.
    pub fn combining(self, combine: fn(&mut Vec<R>)) -> Sorter<R> {
        Sorter { combine, ..self }
    }

    /// Sets the fault injection.
    pub fn with_faults(self, faults: &Faults) -> Sorter<R> {
        let faults = faults.clone();
        Sorter { faults, ..self }
    }

    /// The minimum memory bound: blocks of a few records for two runs and their result.
    pub fn least_memory_bytes() -> usize {
        3 * merge::MIN_BLOCK_RECORDS * size_of::<R>()
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] naming the directory if a run cannot be written there,
    /// [`ErrorKind::Memory`] if the system refuses the buffer.
    pub fn push(&mut self, record: R) -> Result<()> {
        if self.buffer.len() == self.buffer.capacity() {
            self.grow_or_spill()?;
        }
        self.buffer.push(record);
        Ok(())
    }

    /// Adds records.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push).
    pub fn push_all(&mut self, mut records: &[R]) -> Result<()> {
        while !records.is_empty() {
            if self.buffer.len() == self.buffer.capacity() {
                self.grow_or_spill()?;
            }
            let free = self.buffer.capacity() - self.buffer.len();
            let (now, later) = records.split_at(free.min(records.len()));
            self.buffer.extend_from_slice(now);
            records = later;
        }
        Ok(())
    }

    /// Returns all records, ascending.
    ///
    /// If there are more runs than can be merged at once, they are merged in levels first. Each
    /// level copies all records, and two levels are on disk at a time.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push), and [`ErrorKind::Read`] if a run cannot be read back.
    pub fn finish(self) -> Result<Sorted<R>> {
        Ok(Sorted(match self.records()? {
            SortedRecords::Memory(records) => SortedSource::Memory(records.into_iter()),
            SortedRecords::Disk(runs, memory_bytes) => {
                let merge = Merge::of(&runs, memory_bytes)?;
                SortedSource::Disk(Box::new(merge), runs)
            }
        }))
    }

    /// Returns all records, ascending, in at most `count` parts that threads may read at a time:
    /// fewer if there are few records, or many runs in little memory. The parts have about the same
    /// size, but that consecutive records which are the same are in one part. `is_same` must follow
    /// from the order: if the first and the last of some ascending records are the same, so are all.
    ///
    /// # Errors
    /// Errors of [`finish`](Self::finish).
    pub fn finish_in_parts(
        self,
        count: usize,
        is_same: impl Fn(&R, &R) -> bool,
    ) -> Result<SortedParts<R>> {
        SortedParts::new(self.records()?, count.max(1), is_same)
    }

    /// The sorted buffer, or few enough runs to merge them at once.
    pub(super) fn records(mut self) -> Result<SortedRecords<R>> {
        self.sort_buffer();
        let Some(mut runs) = self.runs.take() else {
            return Ok(SortedRecords::Memory(self.buffer));
        };
        runs.append(&self.buffer)?;
        self.buffer = Vec::new();
        let fan_in = merge::fan_in(self.memory_bytes);
        while runs.count() > fan_in {
            runs = merge::level(runs, fan_in, self.memory_bytes)?;
        }
        Ok(SortedRecords::Disk(runs, self.memory_bytes))
    }

    /// Grows the buffer, or writes it as a run if it has reached the bound.
    fn grow_or_spill(&mut self) -> Result<()> {
        let most = self.memory_bytes / size_of::<R>();
        let full = self.buffer.len();
        if full < most {
            let first = FIRST_BYTES / size_of::<R>();
            let wanted = (2 * full).max(first).clamp(1, most);
            return self.buffer.try_reserve_exact(wanted - full).map_err(|_| {
                let bytes = wanted * size_of::<R>();
                let message = format!("no memory for a sorting buffer of {bytes} bytes");
                Error::new(ErrorKind::Memory, message)
            });
        }
        self.sort_buffer();
        if self.buffer.len() <= most / 2 {
            return Ok(());
        }
        let runs = match &mut self.runs {
            Some(runs) => runs,
            none => none.insert(Runs::create(&self.directory, &self.faults)?),
        };
        runs.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn sort_buffer(&mut self) {
        (self.sort)(&mut self.buffer);
        (self.combine)(&mut self.buffer);
    }
}

/// The records of a [`Sorter`], ascending; after an error there are no more.
pub struct Sorted<R>(SortedSource<R>);

enum SortedSource<R> {
    Memory(std::vec::IntoIter<R>),
    Disk(Box<Merge<R>>, Runs<R>),
}

impl<R: Pod + Ord> Iterator for Sorted<R> {
    type Item = Result<R>;

    #[inline]
    fn next(&mut self) -> Option<Result<R>> {
        match &mut self.0 {
            SortedSource::Memory(records) => records.next().map(Ok),
            SortedSource::Disk(merge, runs) => merge.next(runs).transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use proptest::prelude::*;
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
    #[repr(C)]
    struct Wide {
        key: [u8; 3],
        value: [u8; 2],
    }

    fn sorted<R: Pod + Ord>(records: &[R], directory: &Path, memory_bytes: usize) -> Vec<R> {
        let mut sorter = Sorter::new(directory, memory_bytes);
        for record in records {
            sorter.push(*record).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        let all = sorted.map(Result::unwrap).collect();
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Promise (Deduplication): Sorting in little memory gives a correct order
        #[test]
        fn equals_the_sort_of_a_vector(
            seeds in prop::collection::vec(any::<(u8, u16)>(), 0..3000),
            memory_bytes in 0_usize..4000,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let wide = |&(key, value): &(u8, u16)| Wide {
                key: [0, key % 7, key],
                value: value.to_le_bytes(),
            };
            let mut expected: Vec<Wide> = seeds.iter().map(wide).collect();
            let found = sorted(&expected, directory.path(), memory_bytes);
            expected.sort();
            prop_assert_eq!(found, expected);
            let mut expected: Vec<u64> = seeds.iter().map(|seed| u64::from(seed.1)).collect();
            let found = sorted(&expected, directory.path(), memory_bytes);
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn many_levels_hold_every_record_once() {
        let directory = tempfile::tempdir().unwrap();
        let shuffled = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 1_000_003;
        let records: Vec<u64> = (0..200_000).map(shuffled).collect();
        let mut expected = records.clone();
        expected.sort();
        // Runs of 24 records, merged in pairs: thirteen levels.
        assert!(sorted(&records, directory.path(), 0) == expected);
        // Runs of 8192 records, merged at once.
        assert!(sorted(&records, directory.path(), 1 << 16) == expected);
    }

    #[test]
    fn nothing_is_written_while_everything_fits() {
        let missing = Path::new("/nonexistent/place");
        let mut sorter = Sorter::new(missing, 8000);
        (0..1000_u64).rev().for_each(|i| sorter.push(i).unwrap());
        assert!(sorter.finish().unwrap().map(Result::unwrap).eq(0..1000));
    }

    #[test]
    fn buffer_stays_within_the_bound() {
        let directory = tempfile::tempdir().unwrap();
        for bytes in [1000, 100_000, 1_000_000] {
            let mut sorter = Sorter::new(directory.path(), bytes);
            for i in 0..300_000_u64 {
                sorter.push(i).unwrap();
                assert!(8 * sorter.buffer.capacity() <= bytes);
            }
        }
    }

    #[test]
    fn missing_directory_is_an_error() {
        let mut sorter = Sorter::new(Path::new("/nonexistent/place"), 800);
        let error = (0..1000_u64).find_map(|i| sorter.push(i).err()).unwrap();
        assert_eq!(error.kind(), ErrorKind::Write);
        assert_eq!(error.file(), Some(Path::new("/nonexistent/place")));
        assert!(error.to_string().contains("does not exist"), "{error}");
    }

    #[test]
    fn truncated_run_is_an_error_and_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(directory.path(), 1 << 16);
        (0..100_000_u64).for_each(|i| sorter.push(i).unwrap());
        let mut sorted = sorter.finish().unwrap();
        let SortedSource::Disk(_, runs) = &sorted.0 else {
            panic!("everything fitted");
        };
        runs.truncate(70_000);
        let error = sorted.find_map(Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::Read);
        assert!(sorted.next().is_none());
    }

    #[test]
    fn combined_records_need_no_file_while_their_kinds_fit() {
        let missing = Path::new("/nonexistent/place");
        let mut sorter = Sorter::new(missing, 1 << 10).combining(Vec::dedup);
        (0..10_000_u64).for_each(|i| sorter.push(i % 50).unwrap());
        assert!(sorter.finish().unwrap().map(Result::unwrap).eq(0..50));
    }

    /// The kinds of the first records fit, and most do not occur again.
    /// Promise (Bounded memory): The least memory suffices for any …
    #[test]
    fn combined_records_are_kept_while_others_arrive() {
        let missing = Path::new("/nonexistent/place");
        let mut sorter = Sorter::new(missing, 1 << 10).combining(Vec::dedup);
        let record = |i: u64| if i < 60 { i } else { i % 10 };
        (0..10_000).for_each(|i| sorter.push(record(i)).unwrap());
        assert!(sorter.finish().unwrap().map(Result::unwrap).eq(0..60));
    }

    thread_local! {
        static SORTED_RECORDS: Cell<u64> = const { Cell::new(0) };
    }

    /// Whatever combining leaves, a buffer is sorted again only after half of it is new, and a run
    /// has more than half a buffer.
    /// Promise (Bounded memory): The least memory suffices for any …
    #[test]
    fn work_is_linear_in_the_records() {
        fn sort(records: &mut [u64]) {
            SORTED_RECORDS.set(SORTED_RECORDS.get() + records.len() as u64);
            records.sort_unstable();
        }
        const BUFFER: u64 = 128;
        let directory = tempfile::tempdir().unwrap();
        for kinds in [1, 10, 63, 64, 65, 100, 127, 128, 129, 10_000] {
            SORTED_RECORDS.set(0);
            let sorter = Sorter::with_sort(directory.path(), 8 * BUFFER as usize, sort);
            let mut sorter = sorter.combining(Vec::dedup);
            (0..10_000).for_each(|i| sorter.push(i % kinds).unwrap());
            let runs = sorter.runs.as_ref().map_or(0, Runs::count) as u64;
            assert!(runs * BUFFER / 2 <= 10_000, "{kinds}: {runs}");
            drop(sorter.finish().unwrap());
            let sorted = SORTED_RECORDS.get();
            assert!(sorted <= 2 * 10_000 + BUFFER, "{kinds}: {sorted}");
        }
    }

    /// Promise (Bounded memory): The least memory suffices for any …
    #[test]
    fn combining_loses_no_record() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(directory.path(), 1 << 10).combining(Vec::dedup);
        let record = |i: u64| i * i % 5003;
        (0..10_000).for_each(|i| sorter.push(record(i)).unwrap());
        let mut found: Vec<u64> = sorter.finish().unwrap().map(Result::unwrap).collect();
        assert!(found.is_sorted());
        found.dedup();
        let expected: std::collections::BTreeSet<u64> = (0..10_000).map(record).collect();
        assert!(found.into_iter().eq(expected));
    }

    #[test]
    fn other_sorts_may_be_given() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::with_sort(directory.path(), 1 << 12, <[u32]>::sort);
        (0..10_000).rev().for_each(|i| sorter.push(i).unwrap());
        assert!(sorter.finish().unwrap().map(Result::unwrap).eq(0..10_000));
    }
}
