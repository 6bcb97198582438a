//! A copy of a few rows of a table, to estimate the cost of copying all.

use std::time::Duration;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::write::{open_to_copy, properties};
use crate::parquet::catch_panic::catch_panic;
use crate::{Error, ErrorKind, Result};
use simtool_files::InputPath;
use simtool_files::usage::thread_time;

/// The rows copied as a sample, and the cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopiedRows {
    /// The number of rows.
    pub rows: u64,
    /// The size of a file with only these rows.
    pub bytes: u64,
    /// The CPU time of this thread for reading and writing them.
    pub time: Duration,
}

/// The number of batches of a sample. The first is read but not copied, because its time is not
/// representative: its pages are decompressed from their starts.
const BATCHES: usize = 8;

/// Reads at most `rows` rows of the table at `path`, from row `first` on, and copies them to memory
/// as [`copy_kept`](crate::parquet::copy_kept) does, except the first batch of several.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about the table.
pub fn copy_sample<'a>(
    path: impl Into<InputPath<'a>>,
    first: usize,
    rows: usize,
) -> Result<CopiedRows> {
    let path = path.into();
    let (file, metadata) = open_to_copy(path)?;
    let properties = properties(&metadata).build();
    let mut out = Vec::new();
    let mut copied = CopiedRows::default();
    let table = file.clone();
    let done = catch_panic(|| {
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
    });
    table.check()?;
    done.map_err(|detail| Error::new(ErrorKind::Content, detail).in_file(path))?;
    copied.bytes = out.len() as u64;
    Ok(copied)
}
