//! Copies of a table: without its duplicates, or with a column that identifies them.

use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};

use simtool_files::InputPath;

use crate::parquet::catch_panic::catch_panic;
use crate::parquet::read::{check, load};
use crate::parquet::table_file::TableFile;
use crate::{Error, ErrorKind, Result};

/// The rows read at once.
const BATCH_ROWS: usize = 1024;

/// The columns that [`copy_annotated`] adds; their values may be null.
const COLUMNS: [(&str, DataType); 6] = [
    ("duplicate_of", DataType::Utf8),
    ("duplicate_cluster", DataType::UInt64),
    ("duplicate_cluster_size", DataType::UInt64),
    ("duplicate_cluster_sources", DataType::UInt64),
    ("duplicate_cluster_sites", DataType::UInt64),
    ("duplicate_similarity", DataType::Float64),
];

/// Copies the rows of `source` for whose indices, from 0, `keep` returns `true`. Returns the number of
/// rows written.
///
/// The columns, the schema and the key-value metadata stay the same. Each column has the codec that it
/// has in the first row group. Each row group becomes one or several of at most 64 MiB. In a damaged
/// row group, the rows before the damage are copied and the others are left out. Memory: a row group of
/// the output.
///
/// # Errors
///
/// [`ErrorKind::Read`] and [`ErrorKind::Content`] about `source`, [`ErrorKind::Write`] about
/// `output`; those of `keep`.
pub fn copy_kept<'a>(
    source: impl Into<InputPath<'a>>,
    output: impl Write + Send,
    keep: &mut dyn FnMut(u64) -> Result<bool>,
) -> Result<u64> {
    let kept = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let kept: Result<Vec<bool>> = rows.map(&mut *keep).collect();
        filter_record_batch(batch, &BooleanArray::from(kept?)).map_err(unwritable)
    };
    copy(source.into(), output, &|schema| schema, kept)
}

/// The annotation of a row; the default is that of a document in no cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// The id of the kept document, if the row is a duplicate.
    pub duplicate_of: Option<String>,
    /// The number of its cluster.
    pub cluster: Option<u64>,
    /// The number of documents of the cluster.
    pub cluster_size: Option<u64>,
    /// The number of sources that these come from.
    pub cluster_sources: Option<u64>,
    /// The number of sites that these come from.
    pub cluster_sites: Option<u64>,
    /// The similarity to the kept document.
    pub similarity: Option<f64>,
}

/// Copies the rows of `source` with the columns `duplicate_of`, `duplicate_cluster`,
/// `duplicate_cluster_size`, `duplicate_cluster_sources`, `duplicate_cluster_sites` and
/// `duplicate_similarity`: `annotation` returns their values for the index of a row, or `None` for
/// one that is not copied. Returns the number of rows written. Each column replaces one of that
/// name, or is added after the others.
///
/// # Errors
///
/// As [`copy_kept`], and those of `annotation`.
pub fn copy_annotated<'a>(
    source: impl Into<InputPath<'a>>,
    output: impl Write + Send,
    annotation: &mut dyn FnMut(u64) -> Result<Option<Annotation>>,
) -> Result<u64> {
    let annotate = |first_row: u64, batch: &RecordBatch| {
        let rows = first_row..first_row + batch.num_rows() as u64;
        let found: Vec<Option<Annotation>> = rows.map(&mut *annotation).collect::<Result<_>>()?;
        let copied: Vec<bool> = found.iter().map(Option::is_some).collect();
        let mut columns = batch.columns().to_vec();
        for ((name, _), values) in COLUMNS.iter().zip(values(&found)) {
            match batch.schema().column_with_name(name) {
                Some((place, _)) => columns[place] = values,
                None => columns.push(values),
            }
        }
        let schema = with_columns(batch.schema());
        let annotated = RecordBatch::try_new(schema, columns).map_err(unwritable)?;
        filter_record_batch(&annotated, &BooleanArray::from(copied)).map_err(unwritable)
    };
    copy(source.into(), output, &with_columns, annotate)
}

/// The values of [`COLUMNS`].
fn values(annotations: &[Option<Annotation>]) -> [ArrayRef; 6] {
    let all = || annotations.iter().map(Option::as_ref);
    let ids = all().map(|found| found?.duplicate_of.as_deref());
    let whole = |value: fn(&Annotation) -> Option<u64>| {
        let values = all().map(|found| value(found?));
        Arc::new(values.collect::<UInt64Array>()) as ArrayRef
    };
    [
        Arc::new(ids.collect::<StringArray>()),
        whole(|found| found.cluster),
        whole(|found| found.cluster_size),
        whole(|found| found.cluster_sources),
        whole(|found| found.cluster_sites),
        Arc::new(
            all()
                .map(|found| found?.similarity)
                .collect::<Float64Array>(),
        ),
    ]
}

fn with_columns(schema: SchemaRef) -> SchemaRef {
    let mut fields = schema.fields().to_vec();
    for (name, kind) in COLUMNS {
        let column = Arc::new(Field::new(name, kind, true));
        match schema.column_with_name(name) {
            Some((place, _)) => fields[place] = column,
            None => fields.push(column),
        }
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn copy(
    source: InputPath<'_>,
    output: impl Write + Send,
    schema: &dyn Fn(SchemaRef) -> SchemaRef,
    mut change: impl FnMut(u64, &RecordBatch) -> Result<RecordBatch>,
) -> Result<u64> {
    let (file, metadata) = open_to_copy(source)?;
    let schema = schema(metadata.schema().clone());
    let properties = properties(&metadata).build();
    let mut writer = catch_panic(|| ArrowWriter::try_new(output, schema, Some(properties)))
        .map_err(unwritable)?;
    let mut first_row = 0;
    let mut written = 0;
    for (index, group) in metadata.metadata().row_groups().iter().enumerate() {
        let mut row = first_row;
        // If a batch cannot be read, its first rows may still be readable one by one. The rows after
        // them are lost, as when documents are read.
        for batch_rows in [BATCH_ROWS, 1] {
            let file = file.clone();
            let skipped = usize::try_from(row - first_row).unwrap_or(usize::MAX);
            let mut reader = catch_panic(|| {
                ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                    .with_row_groups(vec![index])
                    .with_batch_size(batch_rows)
                    .with_offset(skipped)
                    .build()
            });
            while let Ok(reader) = &mut reader
                && let Ok(Some(batch)) = catch_panic(|| reader.next().transpose())
            {
                let changed = change(row, &batch)?;
                catch_panic(|| writer.write(&changed)).map_err(unwritable)?;
                row += batch.num_rows() as u64;
                written += changed.num_rows() as u64;
            }
        }
        file.check()?;
        first_row += u64::try_from(group.num_rows()).unwrap_or(0);
        catch_panic(|| writer.flush()).map_err(unwritable)?;
    }
    catch_panic(|| writer.close()).map_err(unwritable)?;
    Ok(written)
}

/// Opens the file `source`, without the schema that Arrow stored if that is damaged.
pub(super) fn open_to_copy(source: InputPath<'_>) -> Result<(TableFile, ArrowReaderMetadata)> {
    let content = |detail: String| Error::new(ErrorKind::Content, detail).in_file(source);
    let file = TableFile::open(source)?;
    let loaded = load(&file, false).or_else(|_| load(&file, true));
    file.check()?;
    let metadata = loaded.map_err(content)?;
    check(&metadata, file.bytes()).map_err(content)?;
    Ok((file, metadata))
}

fn unwritable(detail: impl Display) -> Error {
    Error::new(ErrorKind::Write, format!("cannot write Parquet: {detail}"))
}

/// The writer properties of the source: its key-value metadata, and the codecs of its first row group.
pub(crate) fn properties(metadata: &ArrowReaderMetadata) -> WriterPropertiesBuilder {
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
