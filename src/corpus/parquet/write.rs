//! A table again, without its duplicates or with a column that names them.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

use super::contain::contain;
use super::read::{check, load};
use crate::{Error, ErrorKind, Result};

/// The rows read at once.
const BATCH_ROWS: usize = 1024;

/// The name of the column that [`copy_annotated`] adds.
const DUPLICATE_OF: &str = "duplicate_of";

/// Copies the rows of `source` whose numbers `keep` accepts; returns how many those are.
///
/// Every column, the schema, the codec of each column, and key-value metadata stay. Rows of groups
/// that cannot be read are left out. Memory: a row group of the output, at most 64 MiB of it.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about `source`, [`ErrorKind::Write`] about
/// `output`.
pub fn copy_kept(
    source: &Path,
    output: impl Write + Send,
    keep: &mut dyn FnMut(u64) -> bool,
) -> Result<u64> {
    let kept = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let kept: BooleanArray = rows.map(|row| Some(keep(row))).collect();
        filter_record_batch(batch, &kept).map_err(|error| error.to_string())
    };
    copy(source, output, &|schema| Ok(schema), kept)
}

/// Copies the rows of `source` with a further column `duplicate_of`, a string or null, which
/// `duplicate_of` gives for the number of a row; returns how many rows there are.
///
/// # Errors
///
/// As [`copy_kept`]; [`ErrorKind::Content`] also if there is a column of that name.
pub fn copy_annotated(
    source: &Path,
    output: impl Write + Send,
    duplicate_of: &mut dyn FnMut(u64) -> Option<String>,
) -> Result<u64> {
    let annotate = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let column: StringArray = rows.map(&mut *duplicate_of).collect();
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(column) as ArrayRef);
        let schema = with_column(batch.schema())?;
        RecordBatch::try_new(schema, columns).map_err(|error| error.to_string())
    };
    copy(source, output, &with_column, annotate)
}

fn with_column(schema: SchemaRef) -> std::result::Result<SchemaRef, String> {
    if schema.column_with_name(DUPLICATE_OF).is_some() {
        return Err(format!("there is a column {DUPLICATE_OF} already"));
    }
    let added = Arc::new(Field::new(DUPLICATE_OF, DataType::Utf8, true));
    let fields: Vec<_> = schema.fields().iter().cloned().chain([added]).collect();
    Ok(Arc::new(Schema::new_with_metadata(
        fields,
        schema.metadata().clone(),
    )))
}

fn copy(
    source: &Path,
    output: impl Write + Send,
    schema: &dyn Fn(SchemaRef) -> std::result::Result<SchemaRef, String>,
    mut change: impl FnMut(u64, &RecordBatch) -> std::result::Result<RecordBatch, String>,
) -> Result<u64> {
    let read = |error| {
        Error::new(ErrorKind::Read, "cannot read")
            .in_file(source)
            .caused_by(error)
    };
    let content = |detail: String| Error::new(ErrorKind::Content, detail).in_file(source);
    let write =
        |detail: String| Error::new(ErrorKind::Write, format!("cannot write Parquet: {detail}"));
    let file = File::open(source).map_err(read)?;
    let metadata = load(&file, false).map_err(content)?;
    check(&metadata, file.metadata().map_err(read)?.len()).map_err(content)?;
    let schema = schema(metadata.schema().clone()).map_err(content)?;
    let properties = properties(&metadata).build();
    let mut writer =
        contain(|| ArrowWriter::try_new(output, schema, Some(properties))).map_err(write)?;
    let mut first_row = 0;
    let mut written = 0;
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let file = file.try_clone().map_err(read)?;
        let mut reader = contain(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_row_groups(vec![number])
                .with_batch_size(BATCH_ROWS)
                .build()
        });
        let mut row = first_row;
        // A group that goes wrong ends there, as it does when its documents are read.
        while let Ok(reader) = &mut reader
            && let Ok(Some(batch)) = contain(|| reader.next().transpose())
        {
            let changed = change(row, &batch).map_err(write)?;
            contain(|| writer.write(&changed)).map_err(write)?;
            row += batch.num_rows() as u64;
            written += changed.num_rows() as u64;
        }
        first_row += u64::try_from(group.num_rows()).unwrap_or(0);
    }
    contain(|| writer.close()).map_err(write)?;
    Ok(written)
}

/// What the source was written with, as far as it shows.
fn properties(metadata: &ArrowReaderMetadata) -> WriterPropertiesBuilder {
    /// Where the output's row groups end.
    const GROUP_BYTES: usize = 64 << 20;
    let file = metadata.metadata();
    let mut properties = WriterProperties::builder().set_max_row_group_bytes(Some(GROUP_BYTES));
    if let Some(entries) = file.file_metadata().key_value_metadata() {
        // Arrow's own entry is written anew.
        let others = entries.iter().filter(|entry| entry.key != "ARROW:schema");
        properties = properties.set_key_value_metadata(Some(others.cloned().collect()));
    }
    if let Some(group) = file.row_groups().first() {
        if let Some(column) = group.columns().first() {
            properties = properties.set_compression(column.compression());
        }
        for column in group.columns() {
            let path = column.column_path().clone();
            properties = properties.set_column_compression(path, column.compression());
        }
    }
    properties
}
