//! Files of fixed-size records, read by number and never mapped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use super::read_error;
use crate::{Error, ErrorKind, Result};

/// A finished file of contiguous records of type `T`.
///
/// Reading takes `&self`, so threads may share it. Nothing is cached.
#[derive(Debug)]
pub struct RecordFile<T> {
    file: File,
    path: PathBuf,
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
        Ok(RecordFile {
            file,
            path: path.to_owned(),
            records: bytes / size,
            of: std::marker::PhantomData,
        })
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
        self.file
            .read_exact_at(bytemuck::cast_slice_mut(out), first * size_of::<T>() as u64)
            .map_err(|cause| read_error(&self.path, cause))
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
        let mut record = T::zeroed();
        self.file
            .read_exact_at(
                bytemuck::bytes_of_mut(&mut record),
                number * size_of::<T>() as u64,
            )
            .map_err(|cause| read_error(&self.path, cause))?;
        Ok(record)
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
