//! A few rows of a table written again, to learn what writing all of them costs.

use std::fs::File;
use std::path::Path;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::contain::contain;
use super::read::{check, load};
use super::write::properties;
use crate::{Error, ErrorKind, Result};

/// Writes `rows` rows of the table at `path`, from number `first` on, with all columns as
/// [`copy_kept`](super::copy_kept) writes them, into memory; returns how many rows and bytes
/// those are.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about the table.
pub fn copy_sample(path: &Path, first: usize, rows: usize) -> Result<(u64, u64)> {
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
    let copied = contain(|| {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_batch_size(rows.max(1))
            .with_offset(first)
            .with_limit(rows)
            .build()?;
        let schema = metadata.schema().clone();
        let mut writer = ArrowWriter::try_new(&mut out, schema, Some(properties))?;
        let mut copied = 0;
        for batch in reader {
            let batch = batch?;
            copied += batch.num_rows() as u64;
            writer.write(&batch)?;
        }
        writer.close()?;
        Ok::<u64, parquet::errors::ParquetError>(copied)
    })
    .map_err(content)?;
    Ok((copied, out.len() as u64))
}
