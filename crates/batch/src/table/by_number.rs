//! Files of records that ascend by a document's number, and look-up in them.

use std::ops::Range;

use bytemuck::Pod;

use crate::Result;
use simtool_files::{RecordFile, Spooled};

/// Records of which one number is in memory. A look-up reads as many.
const STEP: u64 = 32;
/// Records that are read at a time when the file is opened.
const BLOCK: usize = 256 * STEP as usize;

/// A record about a document.
pub trait Numbered: Pod {
    /// The number of the document.
    fn number(&self) -> u32;
}

/// A file of records with ascending numbers; several may have the same one.
///
/// Memory: four bytes for each 32 records.
pub struct ByNumber<T> {
    store: Store<T>,
    /// The numbers of the records 0, [`STEP`], 2 · [`STEP`], …
    firsts: Vec<u32>,
}

enum Store<T> {
    File(RecordFile<T>),
    Spool(Spooled),
}

impl<T: Numbered> Store<T> {
    fn count(&self) -> u64 {
        match self {
            Store::File(file) => file.len(),
            Store::Spool(spool) => spool.bytes() / size_of::<T>() as u64,
        }
    }

    fn read(&self, first: u64, count: usize) -> Result<Vec<T>> {
        let mut records = Vec::new();
        match self {
            Store::File(file) => file.read(first, count, &mut records)?,
            Store::Spool(spool) => {
                let left = usize::try_from(self.count().saturating_sub(first));
                records.resize(left.map_or(count, |left| left.min(count)), T::zeroed());
                let bytes = bytemuck::cast_slice_mut(&mut records);
                spool.fill_at(first * size_of::<T>() as u64, bytes)?;
            }
        }
        Ok(records)
    }
}

impl<T: Numbered> ByNumber<T> {
    /// The records of a file; reads them all.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn of_file(file: RecordFile<T>) -> Result<ByNumber<T>> {
        ByNumber::new(Store::File(file))
    }

    /// The records of a temporary file; reads them all.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn of_spool(spool: Spooled) -> Result<ByNumber<T>> {
        ByNumber::new(Store::Spool(spool))
    }

    fn new(store: Store<T>) -> Result<ByNumber<T>> {
        let mut firsts = Vec::new();
        for first in (0..store.count()).step_by(BLOCK) {
            let block = store.read(first, BLOCK)?;
            firsts.extend(block.iter().step_by(STEP as usize).map(T::number));
        }
        Ok(ByNumber { store, firsts })
    }

    /// The records of the documents `numbers`, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn range(&self, numbers: Range<u32>) -> Result<Vec<T>> {
        // Records before the last step with a smaller number have smaller numbers too.
        let begin = self.firsts.partition_point(|first| *first < numbers.start);
        let end = self.firsts.partition_point(|first| *first < numbers.end);
        let (begin, end) = (begin.saturating_sub(1) as u64 * STEP, end as u64 * STEP);
        if numbers.is_empty() || begin >= end {
            return Ok(Vec::new());
        }
        let mut records = self.store.read(begin, (end - begin) as usize)?;
        records.retain(|record| numbers.contains(&record.number()));
        Ok(records)
    }

    /// The first record of a document.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn get(&self, number: u32) -> Result<Option<T>> {
        let found = self.range(number..number.saturating_add(1))?;
        Ok(found.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use proptest::prelude::*;
    use simtool_files::Spool;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
    #[repr(C)]
    struct Record(u32, u32);

    impl Numbered for Record {
        fn number(&self) -> u32 {
            self.0
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn records_are_found_by_number(
            steps in prop::collection::vec(prop_oneof![Just(0u32), 0..5u32, 0..900u32], 0..900),
            wanted in (0..3000u32, 0..3000u32),
        ) {
            let mut number = 0;
            let records: Vec<Record> = steps
                .into_iter()
                .zip(0..)
                .map(|(step, place)| {
                    number += step;
                    Record(number, place)
                })
                .collect();
            let directory = tempfile::tempdir().unwrap();
            let mut spool = Spool::create(directory.path()).unwrap();
            spool.append(bytemuck::cast_slice(&records)).unwrap();
            let path = directory.path().join("records");
            std::fs::write(&path, bytemuck::cast_slice(&records)).unwrap();
            let range = wanted.0.min(wanted.1)..wanted.0.max(wanted.1);
            let within = |record: &&Record| range.contains(&record.0);
            let expected: Vec<Record> = records.iter().filter(within).copied().collect();
            for found in [
                ByNumber::of_spool(spool.finish().unwrap()).unwrap(),
                ByNumber::of_file(RecordFile::open(&path).unwrap()).unwrap(),
            ] {
                prop_assert_eq!(found.range(range.clone()).unwrap(), expected.clone());
                let first = records.iter().find(|record| record.0 == wanted.0);
                prop_assert_eq!(found.get(wanted.0).unwrap(), first.copied());
            }
        }
    }
}
