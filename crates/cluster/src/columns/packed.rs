//! Records that travel in blobs, and are sorted by the task that gets them.
//!
//! An engine spends more on a row of some bytes than a step does. So steps with many small records
//! divide these into *parts* by a hash, and give a row with a blob for each part. The task that gets
//! all blobs of a part sorts the records in bounded memory, with files if there are very many. It
//! needs no order of the engine.

use std::path::Path;

use arrow_array::{BinaryArray, Int32Array, RecordBatch};
use bytemuck::Pod;
use simtool_core::Result;
use simtool_files::{Sorted, Sorter};

use super::batch::{bytes, damaged, present};

/// The maximum number of bytes of records of a task that are not given yet.
const HELD: usize = 16 << 20;
/// The mean bytes of a blob, at most: an engine gives a task a thousand rows or more at once.
const BLOB: usize = 32 << 10;
/// Bytes of memory in which a task sorts. A process of Python may be limited to 512 MB, most of which
/// its libraries and the batches of the engine need.
const SORTED: usize = 32 << 20;

/// Divides records into parts.
pub struct Packer {
    parts: Vec<Vec<u8>>,
    held: usize,
    is_complete: bool,
}

impl Packer {
    /// For a number of parts, at least one.
    pub fn new(parts: usize) -> Packer {
        Packer {
            parts: vec![Vec::new(); parts.max(1)],
            held: 0,
            is_complete: false,
        }
    }

    /// Adds a record; equal hashes get one part.
    pub fn add<R: Pod>(&mut self, hash: u64, record: &R) {
        let bytes = bytemuck::bytes_of(record);
        let part = (u128::from(hash) * self.parts.len() as u128) >> 64;
        self.parts[part as usize].extend_from_slice(bytes);
        self.held += bytes.len();
    }

    /// The last record was added.
    pub fn end(&mut self) {
        self.is_complete = true;
    }

    /// The columns `part` and `records`, if there are enough records or these are the last ones.
    ///
    /// # Errors
    /// None that is expected.
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        let most = HELD.min(self.parts.len() * BLOB);
        if self.held == 0 || !self.is_complete && self.held < most {
            return Ok(None);
        }
        self.held = 0;
        let (mut parts, mut blobs) = (Vec::new(), Vec::new());
        for (part, records) in (0..).zip(&mut self.parts) {
            if !records.is_empty() {
                parts.push(part);
                blobs.push(std::mem::take(records));
            }
        }
        let blobs = BinaryArray::from_iter_values(&blobs);
        let batch = RecordBatch::try_from_iter([
            ("part", std::sync::Arc::new(Int32Array::from(parts)) as _),
            ("records", std::sync::Arc::new(blobs) as _),
        ]);
        batch.map(Some).map_err(|cause| damaged(cause.to_string()))
    }
}

/// Sorts the records of blobs.
pub struct Unpacker<R> {
    sorter: Option<Sorter<R>>,
    sorted: Option<Sorted<R>>,
}

impl<R: Pod + Ord> Unpacker<R> {
    /// No records yet; those that do not fit into memory will be in files in `temporary`.
    pub fn new(temporary: &Path) -> Unpacker<R> {
        Unpacker {
            sorter: Some(Sorter::new(temporary, SORTED)),
            sorted: None,
        }
    }

    /// Adds the records of the column `records`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](simtool_core::ErrorKind::Content) if they are cut off; those of files.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let blobs = bytes(batch, "records")?;
        let Some(sorter) = &mut self.sorter else {
            return Err(damaged("records come after the last ones"));
        };
        for row in 0..batch.num_rows() {
            let records = present(&blobs, row, "records")?.chunks_exact(size_of::<R>());
            if !records.remainder().is_empty() {
                return Err(damaged("records of a step are cut off"));
            }
            for record in records {
                sorter.push(bytemuck::pod_read_unaligned(record))?;
            }
        }
        Ok(())
    }

    /// The last record was added.
    ///
    /// # Errors
    /// Errors of files.
    pub fn end(&mut self) -> Result<()> {
        if let Some(sorter) = self.sorter.take() {
            self.sorted = Some(sorter.finish()?);
        }
        Ok(())
    }

    /// The next record in order, after [`end`](Self::end).
    ///
    /// # Errors
    /// Errors of files.
    pub fn next(&mut self) -> Result<Option<R>> {
        self.sorted.as_mut().and_then(Iterator::next).transpose()
    }
}
