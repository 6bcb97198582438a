//! A copy of a few rows of a table, to estimate the cost of copying all.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::contain::contain;
use super::read::{check, load};
use super::write::properties;
use crate::io::usage::thread_time;
use crate::{Error, ErrorKind, Result};

/// The rows copied as a sample, and the cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopiedRows {
    /// The number of rows.
    pub rows: u64,
    /// The size of a file with only these rows.
    pub bytes: u64,
    /// The processor time of this thread for reading and writing them.
    pub time: Duration,
}

/// The number of batches of a sample. The time of the first is not representative, because its pages
/// are decompressed from their starts.
const BATCHES: usize = 8;

/// Copies `rows` rows of the table at `path`, from row `first` on, to memory, as
/// [`copy_kept`](super::copy_kept) does.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about the table.
pub fn copy_sample(path: &Path, first: usize, rows: usize) -> Result<CopiedRows> {
    let content = |detail: String| Error::new(ErrorKind::Content, detail).in_file(path);
    let read = |cause| {
        Error::new(ErrorKind::Read, "cannot read")
            .in_file(path)
            .caused_by(cause)
    };
    let file = File::open(path).map_err(read)?;
    let metadata = load(&file, false).map_err(content)?;
    check(&metadata, file.metadata().map_err(read)?.len()).map_err(content)?;
    let properties = properties(&metadata).build();
    let mut out = Vec::new();
    let mut copied = CopiedRows::default();
    contain(|| {
        let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_batch_size(rows.div_ceil(BATCHES).max(1))
            .with_offset(first)
            .with_limit(rows)
            .build()?;
        let schema = metadata.schema().clone();
        let mut writer = ArrowWriter::try_new(&mut out, schema, Some(properties))?;
        let first_batch = reader.next().transpose()?;
        let before = thread_time();
        for batch in reader {
            let batch = batch?;
            copied.rows += batch.num_rows() as u64;
            writer.write(&batch)?;
        }
        if copied.rows == 0
            && let Some(batch) = first_batch
        {
            copied.rows = batch.num_rows() as u64;
            writer.write(&batch)?;
        }
        writer.close()?;
        copied.time = thread_time().saturating_sub(before);
        Ok::<(), parquet::errors::ParquetError>(())
    })
    .map_err(content)?;
    copied.bytes = out.len() as u64;
    Ok(copied)
}
