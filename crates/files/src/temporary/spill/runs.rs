//! Sorted runs in a temporary file.

use bytemuck::Pod;
use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::faults::{Faults, Operation};
use crate::write_error;
use crate::{Error, ErrorKind, Result};

/// Sorted runs of records, stored contiguously in an unnamed temporary file.
pub(super) struct Runs<R> {
    directory: PathBuf,
    file: File,
    /// The end of each run, in records.
    ends: Vec<u64>,
    faults: Faults,
    records: PhantomData<R>,
}

/// All records of a sorter: ascending in memory, or in runs, with the memory to merge them.
pub(super) enum SortedRecords<R> {
    Memory(Vec<R>),
    Disk(Runs<R>, usize),
}

impl<R: Pod> Runs<R> {
    /// Creates an empty list of runs, in a new file in `directory`.
    pub(super) fn create(directory: &Path, faults: &Faults) -> Result<Runs<R>> {
        let file =
            tempfile::tempfile_in(directory).map_err(|cause| unwritable(directory, cause))?;
        Ok(Runs {
            directory: directory.to_owned(),
            file,
            ends: Vec::new(),
            faults: faults.clone(),
            records: PhantomData,
        })
    }

    /// Creates an empty list of runs, in a new file in the same directory.
    pub(super) fn create_beside(&self) -> Result<Runs<R>> {
        Runs::create(&self.directory, &self.faults)
    }

    /// Appends a run.
    pub(super) fn append(&mut self, run: &[R]) -> Result<()> {
        self.begin();
        self.extend(run)
    }

    /// Starts an empty run.
    pub(super) fn begin(&mut self) {
        let end = self.ends.last().copied().unwrap_or(0);
        self.ends.push(end);
    }

    /// Appends records to the last run.
    pub(super) fn extend(&mut self, records: &[R]) -> Result<()> {
        let Some(end) = self.ends.last_mut() else {
            return Ok(());
        };
        let offset = *end * size_of::<R>() as u64;
        self.faults
            .before(Operation::Write, &self.directory)
            .and_then(|()| {
                let bytes = bytemuck::cast_slice(records);
                self.file.write_all_at(bytes, offset)
            })
            .map_err(|cause| unwritable(&self.directory, cause))?;
        *end += records.len() as u64;
        Ok(())
    }

    /// The number of runs.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The range of run `number`, in records.
    pub(super) fn range(&self, number: usize) -> Range<u64> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[number]
    }

    /// The record `number`.
    pub(super) fn record(&self, number: u64) -> Result<R> {
        let mut record = [R::zeroed()];
        self.read(number, &mut record)?;
        Ok(record[0])
    }

    /// Fills `records` with the records from number `first` on.
    pub(super) fn read(&self, first: u64, records: &mut [R]) -> Result<()> {
        let offset = first * size_of::<R>() as u64;
        let bytes = bytemuck::cast_slice_mut(records);
        self.file.read_exact_at(bytes, offset).map_err(|cause| {
            Error::new(ErrorKind::Read, "cannot read back a temporary sorted run")
                .in_file(&self.directory)
                .caused_by(cause)
        })
    }

    #[cfg(test)]
    pub(super) fn truncate(&self, bytes: u64) {
        self.file.set_len(bytes).unwrap();
    }
}

fn unwritable(directory: &Path, cause: std::io::Error) -> Error {
    write_error(directory, "cannot hold a temporary sorted run", cause)
}
