//! The packed rows of all segments, read by number.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::packing::RowPacking;
use crate::table::row::TableRow;
use crate::{Error, ErrorKind, Result};

/// The rows of a store, in the order of the documents.
///
/// Reading takes `&self`, so threads may share it. Only packings are cached, of less than a kilobyte
/// for a segment.
#[derive(Debug)]
pub struct RowFile<R> {
    file: Arc<File>,
    path: PathBuf,
    /// No run is empty. Each has its packing once it was read.
    runs: Vec<(RowRun, OnceLock<RowPacking>)>,
    rows: u64,
    of: std::marker::PhantomData<fn() -> R>,
}

/// The rows of a segment in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRun {
    /// The number of the first.
    pub first: u64,
    /// The offset of the description of their packing, which they follow.
    pub begin: u64,
    /// The offset of the first label; rows have offsets from there on.
    pub labels: u64,
}

impl<R: TableRow> RowFile<R> {
    /// The `rows` rows of `runs` of the open file `path`. No run is empty.
    pub fn new(file: Arc<File>, path: &Path, runs: Vec<RowRun>, rows: u64) -> RowFile<R> {
        RowFile {
            file,
            path: path.to_owned(),
            runs: runs.into_iter().map(|run| (run, OnceLock::new())).collect(),
            rows,
            of: std::marker::PhantomData,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Replaces the contents of `out` by `count` rows from number `first` on, or fewer at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read, or is shorter than it was;
    /// [`ErrorKind::Content`] if it is damaged.
    pub fn read(&self, first: u64, count: usize, out: &mut Vec<R>) -> Result<()> {
        let left = self.rows.saturating_sub(first);
        let count = usize::try_from(left).map_or(count, |left| left.min(count));
        out.clear();
        out.resize(count, R::zeroed());
        self.fill(first, out)
    }

    /// Row number `number`.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`ErrorKind::Content`] if there is no such row.
    pub fn get(&self, number: u64) -> Result<R> {
        if number >= self.rows {
            let message = format!("no record {number}: there are {}", self.rows);
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.path));
        }
        let mut row = [R::zeroed()];
        self.fill(number, &mut row)?;
        let [row] = row;
        Ok(row)
    }

    /// Calls `visit(first, rows)` for each block of `block` rows, in order; `first` is the number of
    /// its first row. The last block may be shorter.
    ///
    /// # Errors
    /// As [`read`](Self::read), and those of `visit`.
    pub fn for_each_block(
        &self,
        block: usize,
        mut visit: impl FnMut(u64, &[R]) -> Result<()>,
    ) -> Result<()> {
        let (mut first, mut rows) = (0, Vec::new());
        while first < self.rows {
            self.read(first, block, &mut rows)?;
            visit(first, &rows)?;
            first += rows.len().max(1) as u64;
        }
        Ok(())
    }

    /// Fills `out` with the rows from number `first` on, which exist.
    fn fill(&self, mut first: u64, mut out: &mut [R]) -> Result<()> {
        let after = self.runs.partition_point(|(run, _)| run.first <= first);
        let mut place = after.saturating_sub(1);
        let mut bytes = Vec::new();
        while let (false, Some(run)) = (out.is_empty(), self.runs.get(place)) {
            let next = self.runs.get(place + 1);
            let end = next.map_or(self.rows, |(next, _)| next.first);
            let count = usize::try_from(end - first).map_or(out.len(), |left| left.min(out.len()));
            let (rows, rest) = out.split_at_mut(count);
            self.fill_from(run, first - run.0.first, rows, &mut bytes)?;
            first += count as u64;
            out = rest;
            place += 1;
        }
        Ok(())
    }

    /// Fills `rows` with those of a run, from number `first` of the run on.
    fn fill_from(
        &self,
        (run, packing): &(RowRun, OnceLock<RowPacking>),
        first: u64,
        rows: &mut [R],
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let read = |bytes: &mut [u8], offset: u64| {
            self.file
                .read_exact_at(bytes, offset)
                .map_err(|cause| Error::unreadable(&self.path, cause))
        };
        let described = RowPacking::description_bytes::<R>();
        let packing = match packing.get() {
            Some(packing) => packing,
            None => {
                bytes.clear();
                bytes.resize(described, 0);
                read(bytes, run.begin)?;
                let found = RowPacking::read(bytes).ok_or_else(|| {
                    let message = "rows cannot be unpacked: start with --restart";
                    Error::new(ErrorKind::Content, message).in_file(&self.path)
                })?;
                packing.get_or_init(|| found)
            }
        };
        let begin = run.begin + described as u64 + first * packing.packed_bytes() as u64;
        bytes.clear();
        bytes.resize(rows.len() * packing.packed_bytes(), 0);
        read(bytes, begin)?;
        packing.unpack(bytes, rows);
        rows.iter_mut().for_each(|row| row.move_label(run.labels));
        Ok(())
    }
}
