//! Files of fixed-size records, read by number and never mapped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;

use crate::read_error;
use crate::{Error, ErrorKind, Result};

/// Records of type `T` in a finished file: in one run from its beginning, or in several runs.
///
/// Reading takes `&self`, so threads may share it. Nothing is cached.
#[derive(Debug)]
pub struct RecordFile<T> {
    file: Arc<File>,
    path: PathBuf,
    /// The runs: the number of the first record of each, and its offset in bytes. No run is empty.
    runs: Vec<(u64, u64)>,
    records: u64,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Pod> RecordFile<T> {
    /// Opens a file of records.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if that fails, [`ErrorKind::Content`] if the last record is incomplete.
    pub fn open(path: &Path) -> Result<RecordFile<T>> {
        let file = File::open(path).map_err(|cause| read_error(path, cause))?;
        let bytes = file
            .metadata()
            .map_err(|cause| read_error(path, cause))?
            .len();
        let size = size_of::<T>() as u64;
        if !bytes.is_multiple_of(size) {
            let message =
                format!("{bytes} bytes are not a multiple of {size}: the file is truncated");
            return Err(Error::new(ErrorKind::Content, message).in_file(path));
        }
        Ok(RecordFile::of_runs(
            Arc::new(file),
            path,
            [(bytes / size, 0)],
        ))
    }

    /// The records of `runs` of the open file `path`, numbered in the order of the runs. A run is a
    /// number of records and its offset in bytes.
    pub fn of_runs(
        file: Arc<File>,
        path: &Path,
        runs: impl IntoIterator<Item = (u64, u64)>,
    ) -> RecordFile<T> {
        let (mut records, mut begins) = (0, Vec::new());
        for (count, offset) in runs {
            if count > 0 {
                begins.push((records, offset));
                records += count;
            }
        }
        RecordFile {
            file,
            path: path.to_owned(),
            runs: begins,
            records,
            of: std::marker::PhantomData,
        }
    }

    /// The number of records.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Replaces the contents of `out` by `count` records from number `first` on, or fewer at the
    /// end of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read, or is shorter than it was.
    pub fn read(&self, first: u64, count: usize, out: &mut Vec<T>) -> Result<()> {
        let left = self.records.saturating_sub(first);
        let count = usize::try_from(left).map_or(count, |left| left.min(count));
        out.clear();
        out.resize(count, T::zeroed());
        self.fill(first, out)
    }

    /// Record number `number`.
    ///
    /// # Errors
    /// As [`read`](RecordFile::read); [`ErrorKind::Content`] if there is no such record.
    pub fn get(&self, number: u64) -> Result<T> {
        if number >= self.records {
            let message = format!("no record {number}: there are {}", self.records);
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.path));
        }
        let mut record = [T::zeroed()];
        self.fill(number, &mut record)?;
        let [record] = record;
        Ok(record)
    }

    /// Fills `out` with the records from number `first` on, which exist.
    fn fill(&self, mut first: u64, mut out: &mut [T]) -> Result<()> {
        let after = self.runs.partition_point(|&(begin, _)| begin <= first);
        let mut run = after.saturating_sub(1);
        while let (false, Some(&(begin, offset))) = (out.is_empty(), self.runs.get(run)) {
            let end = self.runs.get(run + 1).map_or(self.records, |&(end, _)| end);
            let count = usize::try_from(end - first).map_or(out.len(), |left| left.min(out.len()));
            let (part, rest) = out.split_at_mut(count);
            let offset = offset + (first - begin) * size_of::<T>() as u64;
            self.file
                .read_exact_at(bytemuck::cast_slice_mut(part), offset)
                .map_err(|cause| read_error(&self.path, cause))?;
            first += count as u64;
            out = rest;
            run += 1;
        }
        Ok(())
    }

    /// Calls `visit(first, records)` for each block of `block` records, in order; `first` is the
    /// number of its first record. The last block may be shorter.
    ///
    /// # Errors
    /// As [`read`](RecordFile::read), and those of `visit`.
    pub fn for_each_block(
        &self,
        block: usize,
        mut visit: impl FnMut(u64, &[T]) -> Result<()>,
    ) -> Result<()> {
        let (mut first, mut records) = (0, Vec::new());
        while first < self.records {
            self.read(first, block, &mut records)?;
            visit(first, &records)?;
            first += records.len().max(1) as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file_of(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("records");
        std::fs::write(&path, bytes).unwrap();
        (directory, path)
    }

    #[test]
    fn records_are_read_by_number_and_in_blocks() {
        let numbers: Vec<u32> = (0..1000).collect();
        let (_directory, path) = file_of(bytemuck::cast_slice(&numbers));
        let records = RecordFile::<u32>::open(&path).unwrap();
        assert_eq!((records.len(), records.is_empty()), (1000, false));
        assert_eq!(records.get(999).unwrap(), 999);
        assert!(
            records
                .get(1000)
                .unwrap_err()
                .to_string()
                .contains("no record 1000")
        );
        let mut out = Vec::new();
        records.read(990, 100, &mut out).unwrap();
        assert_eq!(out, numbers[990..]);
        let mut seen = Vec::new();
        let visit = |first, block: &[u32]| {
            assert_eq!(first, seen.len() as u64);
            seen.extend_from_slice(block);
            Ok(())
        };
        records.for_each_block(33, visit).unwrap();
        assert_eq!(seen, numbers);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn records_of_runs_are_numbered_in_the_order_of_the_runs(
            lengths in prop::collection::vec((0usize..9, 0usize..7, any::<u64>()), 0..9),
            asked in prop::collection::vec((0u64..60, 0usize..60), 1..20),
        ) {
            let mut bytes = Vec::new();
            let mut runs = Vec::new();
            for (number, (length, gap, order)) in lengths.into_iter().enumerate() {
                bytes.resize(bytes.len() + gap, 0xff);
                let records: Vec<u32> = (0..length).map(|at| (number * 100 + at) as u32).collect();
                runs.push((order, bytes.len() as u64, records.clone()));
                bytes.extend_from_slice(bytemuck::cast_slice(&records));
            }
            runs.sort();
            let (_directory, path) = file_of(&bytes);
            let places = runs.iter().map(|(_, offset, records)| (records.len() as u64, *offset));
            let file = Arc::new(File::open(&path).unwrap());
            let found = RecordFile::<u32>::of_runs(file, &path, places);
            let expected: Vec<u32> = runs.iter().flat_map(|(.., records)| records.clone()).collect();
            prop_assert_eq!(found.len(), expected.len() as u64);
            let mut out = Vec::new();
            for (first, count) in asked {
                found.read(first, count, &mut out).unwrap();
                let rest = expected.get(first as usize..).unwrap_or_default();
                prop_assert_eq!(&out, &rest[..count.min(rest.len())]);
                prop_assert_eq!(found.get(first).ok(), expected.get(first as usize).copied());
            }
        }
    }

    #[test]
    fn cut_and_missing_files_are_errors() {
        let (_directory, path) = file_of(b"12345");
        let error = RecordFile::<u32>::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        let error = RecordFile::<u32>::open(&path.join("nothing")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read);
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let (_directory, path) = file_of(&[7; 400]);
        let records = RecordFile::<u32>::open(&path).unwrap();
        std::fs::write(&path, b"").unwrap();
        assert_eq!(records.get(3).unwrap_err().kind(), ErrorKind::Read);
    }
}
