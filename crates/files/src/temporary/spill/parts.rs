//! Sorted records in parts that several threads read.
//!
//! ```text
//! runs        ├──┊────┊──┤ ├───┊──┊────┤    the borders are records of a sample
//!               ▼    ▼   ▼
//! parts       merge merge merge             each merges its range of every run
//! ```

use bytemuck::Pod;

use super::merge::{self, Merge};
use super::runs::{Runs, SortedRecords};
use crate::Result;

/// Records of a sample for each part.
const SAMPLED: u64 = 8;

/// The records of a [`Sorter`](crate::Sorter), ascending, in parts of about the same size. Each part
/// is read from the beginning to the end; threads may read different ones at a time.
pub struct SortedParts<R>(PartedRecords<R>);

enum PartedRecords<R> {
    /// All records, and the end of each part.
    Memory(Vec<R>, Vec<usize>),
    Disk {
        runs: Runs<R>,
        /// For each part, where it begins in each run; one entry more than there are parts.
        borders: Vec<Vec<u64>>,
        /// The records of a block.
        block: usize,
    },
}

impl<R: Pod + Ord> SortedParts<R> {
    /// Divides records into at most `count` parts, such that those which are the same are in one part.
    pub(super) fn new(
        records: SortedRecords<R>,
        count: usize,
        is_same: impl Fn(&R, &R) -> bool,
    ) -> Result<SortedParts<R>> {
        Ok(SortedParts(match records {
            SortedRecords::Memory(records) => {
                let ends = ends(&records, count, is_same);
                PartedRecords::Memory(records, ends)
            }
            SortedRecords::Disk(runs, memory_bytes) => {
                let count = merge::at_once(runs.count(), memory_bytes).min(count);
                let borders = borders(&runs, count, is_same)?;
                let blocks = runs.count() * (borders.len() - 1);
                let block = merge::block_records::<R>(memory_bytes, blocks);
                PartedRecords::Disk {
                    runs,
                    borders,
                    block,
                }
            }
        }))
    }

    /// The number of parts.
    pub fn count(&self) -> usize {
        match &self.0 {
            PartedRecords::Memory(_, ends) => ends.len(),
            PartedRecords::Disk { borders, .. } => borders.len() - 1,
        }
    }

    /// The records of a part, ascending; after an error there are no more.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if a run cannot be read back.
    pub fn part(&self, number: usize) -> Result<SortedPart<'_, R>> {
        Ok(SortedPart(match &self.0 {
            PartedRecords::Memory(records, ends) => {
                let start = number.checked_sub(1).map_or(0, |before| ends[before]);
                PartSource::Memory(records[start..ends[number]].iter())
            }
            PartedRecords::Disk {
                runs,
                borders,
                block,
            } => {
                let ranges = borders[number].iter().zip(&borders[number + 1]);
                let ranges = ranges.map(|(start, end)| *start..*end);
                PartSource::Disk(Merge::with_blocks(runs, ranges, *block)?, runs)
            }
        }))
    }
}

/// The ends of at most `count` parts.
fn ends<R>(records: &[R], count: usize, is_same: impl Fn(&R, &R) -> bool) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    for number in 1..=count {
        let end = (records.len() as u128 * number as u128 / count as u128) as usize;
        let end = match records.get(end) {
            Some(next) => end + records[end..].partition_point(|record| is_same(record, next)),
            None => records.len(),
        };
        if ends.last().copied().unwrap_or(0) < end {
            ends.push(end);
        }
    }
    ends
}

/// Where at most `count` parts begin in each run, and where the last one ends.
fn borders<R: Pod + Ord>(
    runs: &Runs<R>,
    count: usize,
    is_same: impl Fn(&R, &R) -> bool,
) -> Result<Vec<Vec<u64>>> {
    let ranges = || (0..runs.count()).map(|number| runs.range(number));
    let total: u64 = ranges().map(|run| run.end - run.start).sum();
    let step = (total / (SAMPLED * count as u64)).max(1);
    let mut sample = Vec::new();
    for range in ranges() {
        for at in range.skip(step as usize / 2).step_by(step as usize) {
            sample.push(runs.record(at)?);
        }
    }
    sample.sort_unstable();
    let mut borders = vec![ranges().map(|run| run.start).collect::<Vec<u64>>()];
    for number in 1..count {
        let Some(first) = sample.get(sample.len() * number / count) else {
            continue;
        };
        let mut border = Vec::with_capacity(runs.count());
        for run in ranges() {
            let (mut low, mut high) = (run.start, run.end);
            while low < high {
                let middle = low + (high - low) / 2;
                let record = runs.record(middle)?;
                match record < *first && !is_same(&record, first) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            border.push(low);
        }
        borders.push(border);
    }
    borders.push(ranges().map(|run| run.end).collect());
    borders.dedup();
    Ok(borders)
}

/// The records of a part of [`SortedParts`], ascending; after an error there are no more.
pub struct SortedPart<'a, R>(PartSource<'a, R>);

enum PartSource<'a, R> {
    Memory(std::slice::Iter<'a, R>),
    Disk(Merge<R>, &'a Runs<R>),
}

impl<R: Pod + Ord> Iterator for SortedPart<'_, R> {
    type Item = Result<R>;

    #[inline]
    fn next(&mut self) -> Option<Result<R>> {
        match &mut self.0 {
            PartSource::Memory(records) => records.next().copied().map(Ok),
            PartSource::Disk(merge, runs) => merge.next(runs).transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sorter;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// Parts of records in memory, or of runs as if there was much memory.
    fn parts<R: Pod + Ord>(
        sorter: Sorter<R>,
        count: usize,
        is_same: impl Fn(&R, &R) -> bool,
    ) -> SortedParts<R> {
        let records = match sorter.records().unwrap() {
            SortedRecords::Disk(runs, _) => SortedRecords::Disk(runs, 1 << 30),
            memory => memory,
        };
        SortedParts::new(records, count, is_same).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        /// Promise (Deduplication): Sorting in little memory gives a correct order
        #[test]
        fn parts_equal_the_sort_of_a_vector(
            mut records in prop::collection::vec((0..60u64, any::<u8>()), 0..3000),
            count in 1..9usize, memory_bytes in prop_oneof![0..4000usize, Just(1 << 20)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(directory.path(), memory_bytes);
            let record = |(key, value): &(u64, u8)| [*key, u64::from(*value)];
            let all: Vec<[u64; 2]> = records.iter().map(record).collect();
            sorter.push_all(&all).unwrap();
            let parts = parts(sorter, count, |a, b| a[0] == b[0]);
            prop_assert!(parts.count() <= count);
            let (mut found, mut keys) = (Vec::new(), HashSet::new());
            for number in 0..parts.count() {
                let part: Vec<[u64; 2]> = parts.part(number).unwrap().map(Result::unwrap).collect();
                let own: HashSet<u64> = part.iter().map(|record| record[0]).collect();
                prop_assert!(keys.is_disjoint(&own));
                keys.extend(own);
                found.extend(part);
            }
            records.sort_unstable();
            prop_assert_eq!(found, records.iter().map(record).collect::<Vec<_>>());
        }
    }

    #[test]
    fn parts_of_many_runs_have_about_the_same_size() {
        let directory = tempfile::tempdir().unwrap();
        for memory_bytes in [1 << 13, 1 << 22] {
            let mut sorter = Sorter::new(directory.path(), memory_bytes);
            // Ascending, so that each run has other records.
            (0..100_000_u64).for_each(|record| sorter.push(record).unwrap());
            let parts = parts(sorter, 2, |a, b| a == b);
            assert_eq!(parts.count(), 2, "{memory_bytes}");
            let first = parts.part(0).unwrap().count();
            assert!((40_000..60_000).contains(&first), "{memory_bytes}: {first}");
        }
    }
}
