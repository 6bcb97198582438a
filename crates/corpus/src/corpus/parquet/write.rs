//! Copies of a table: without its duplicates, or with a column that identifies them.

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::{ArrayRef, BooleanArray, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
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

/// Copies the rows of `source` whose numbers `keep` accepts. Returns their number.
///
/// The columns, the schema, the codec of each column, and the key-value metadata stay the same. Each
/// row group becomes one or several of at most 64 MiB. Rows of unreadable groups are left out.
/// Memory: a row group of the output.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about `source`, [`ErrorKind::Write`] about
/// `output`; those of `keep`.
pub fn copy_kept(
    source: &Path,
    output: impl Write + Send,
    keep: &mut dyn FnMut(u64) -> Result<bool>,
) -> Result<u64> {
    let kept = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let kept: Result<Vec<bool>> = rows.map(&mut *keep).collect();
        filter_record_batch(batch, &BooleanArray::from(kept?)).map_err(unwritable)
    };
    copy(source, output, &|schema| schema, kept)
}

/// The annotation of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// It is left out.
    LeftOut,
    /// It is not a duplicate.
    None,
    /// It is a duplicate of the document with this id.
    DuplicateOf(String),
}

/// Copies the rows of `source` with a column `duplicate_of`, a string or null, determined by
/// `annotation` for the number of a row. Returns the number of rows written. The column replaces one
/// of that name, or is added as the last one.
///
/// # Errors
///
/// As [`copy_kept`], and those of `annotation`.
pub fn copy_annotated(
    source: &Path,
    output: impl Write + Send,
    annotation: &mut dyn FnMut(u64) -> Result<Annotation>,
) -> Result<u64> {
    let annotate = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let (mut stays, mut ids) = (Vec::new(), Vec::new());
        for row in rows {
            let annotation = annotation(row)?;
            stays.push(annotation != Annotation::LeftOut);
            ids.push(match annotation {
                Annotation::DuplicateOf(id) => Some(id),
                Annotation::LeftOut | Annotation::None => None,
            });
        }
        let mut columns = batch.columns().to_vec();
        let marks = Arc::new(StringArray::from(ids)) as ArrayRef;
        match batch.schema().column_with_name(DUPLICATE_OF) {
            Some((place, _)) => columns[place] = marks,
            None => columns.push(marks),
        }
        let schema = with_column(batch.schema());
        let marked = RecordBatch::try_new(schema, columns).map_err(unwritable)?;
        filter_record_batch(&marked, &BooleanArray::from(stays)).map_err(unwritable)
    };
    copy(source, output, &with_column, annotate)
}

fn with_column(schema: SchemaRef) -> SchemaRef {
    let marks = Arc::new(Field::new(DUPLICATE_OF, DataType::Utf8, true));
    let mut fields = schema.fields().to_vec();
    match schema.column_with_name(DUPLICATE_OF) {
        Some((place, _)) => fields[place] = marks,
        None => fields.push(marks),
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn copy(
    source: &Path,
    output: impl Write + Send,
    schema: &dyn Fn(SchemaRef) -> SchemaRef,
    mut change: impl FnMut(u64, &RecordBatch) -> Result<RecordBatch>,
) -> Result<u64> {
    let read = |error| {
        Error::new(ErrorKind::Read, "cannot read")
            .in_file(source)
            .caused_by(error)
    };
    let content = |detail: String| Error::new(ErrorKind::Content, detail).in_file(source);
    let file = File::open(source).map_err(read)?;
    // The schema that Arrow stored may be damaged although the table is not.
    let metadata = load(&file, false)
        .or_else(|_| load(&file, true))
        .map_err(content)?;
    check(&metadata, file.metadata().map_err(read)?.len()).map_err(content)?;
    let schema = schema(metadata.schema().clone());
    let properties = properties(&metadata).build();
    let mut writer =
        contain(|| ArrowWriter::try_new(output, schema, Some(properties))).map_err(unwritable)?;
    let mut first_row = 0;
    let mut written = 0;
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let mut row = first_row;
        // If a batch cannot be read, its first rows may still be readable one by one. The rows after
        // them are lost, as when documents are read.
        for batch_rows in [BATCH_ROWS, 1] {
            let file = file.try_clone().map_err(read)?;
            let skipped = usize::try_from(row - first_row).unwrap_or(usize::MAX);
            let mut reader = contain(|| {
                ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                    .with_row_groups(vec![number])
                    .with_batch_size(batch_rows)
                    .with_offset(skipped)
                    .build()
            });
            while let Ok(reader) = &mut reader
                && let Ok(Some(batch)) = contain(|| reader.next().transpose())
            {
                let changed = change(row, &batch)?;
                contain(|| writer.write(&changed)).map_err(unwritable)?;
                row += batch.num_rows() as u64;
                written += changed.num_rows() as u64;
            }
        }
        first_row += u64::try_from(group.num_rows()).unwrap_or(0);
        contain(|| writer.flush()).map_err(unwritable)?;
    }
    contain(|| writer.close()).map_err(unwritable)?;
    Ok(written)
}

fn unwritable(detail: impl Display) -> Error {
    Error::new(ErrorKind::Write, format!("cannot write Parquet: {detail}"))
}

/// The writer properties of the source, as far as its metadata shows them.
pub(super) fn properties(metadata: &ArrowReaderMetadata) -> WriterPropertiesBuilder {
    /// The maximum size of a row group of the output.
    const GROUP_BYTES: usize = 64 << 20;
    let file = metadata.metadata();
    let mut properties = WriterProperties::builder().set_max_row_group_bytes(Some(GROUP_BYTES));
    if let Some(entries) = file.file_metadata().key_value_metadata() {
        // Arrow writes this entry itself.
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
