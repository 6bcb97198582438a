//! The list of pairs as a Parquet file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::pairs::{COLUMNS, ColumnValue, Kind, Pair};
use crate::{Error, ErrorKind, Result};
use simtool_files::AtomicFile;

/// The maximum number of rows of a batch, which is held in memory.
const ROWS: usize = 1 << 14;
/// The maximum number of bytes of text of a batch.
const TEXT_BYTES: usize = 4 << 20;
/// The encoded size of a row group in bytes; it is held in memory until complete.
const GROUP_BYTES: usize = 16 << 20;

/// Writes pairs into a Parquet file.
///
/// Ids are text: invalid UTF-8 becomes replacement characters. Memory: a batch, a row group, and
/// one row of any length.
pub struct ParquetPairs {
    columns: Vec<Builder>,
    schema: SchemaRef,
    rows: usize,
    text_bytes: usize,
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
}

/// The values of a column in a batch.
enum Builder {
    Text(StringBuilder),
    Whole(UInt64Builder),
    Decimal(Float64Builder),
}

impl ParquetPairs {
    /// Starts the table in `file`, which will be published as `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(path: &Path, file: AtomicFile) -> Result<ParquetPairs> {
        let schema = schema();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        // Ids and URLs may have any length, so dictionaries and statistics must not copy them.
        for column in ["id", "id_base64", "url", "kept", "kept_base64", "kept_url"] {
            properties = properties
                .set_column_dictionary_enabled(column.into(), false)
                .set_column_statistics_enabled(column.into(), EnabledStatistics::None);
        }
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties.build()))
            .map_err(|cause| error(path, cause))?;
        Ok(ParquetPairs {
            columns: COLUMNS.map(|column| Builder::new(column.kind)).into(),
            schema,
            rows: 0,
            text_bytes: 0,
            writer,
            path: path.to_owned(),
        })
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn add(&mut self, pair: &Pair<'_>) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(pair.cells()) {
            self.text_bytes += column.append(cell);
        }
        self.rows += 1;
        match self.rows < ROWS && self.text_bytes < TEXT_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes the remaining rows and publishes the file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(mut self) -> Result<()> {
        self.flush()?;
        let file = self.writer.into_inner();
        file.map_err(|cause| error(&self.path, cause))?.publish()
    }

    fn flush(&mut self) -> Result<()> {
        let failed = |cause| error(&self.path, cause);
        let columns = self.columns.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|cause| failed(cause.into()))?;
        (self.rows, self.text_bytes) = (0, 0);
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }
}

fn schema() -> SchemaRef {
    let field = |column: &super::pairs::Column| {
        let kind = match column.kind {
            Kind::Text => DataType::Utf8,
            Kind::Whole => DataType::UInt64,
            Kind::Decimal => DataType::Float64,
        };
        Field::new(column.name, kind, column.may_lack)
    };
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

impl Builder {
    fn new(kind: Kind) -> Builder {
        match kind {
            Kind::Text => Builder::Text(StringBuilder::new()),
            Kind::Whole => Builder::Whole(UInt64Builder::new()),
            Kind::Decimal => Builder::Decimal(Float64Builder::new()),
        }
    }

    /// Appends a cell; returns its number of bytes of text.
    fn append(&mut self, cell: ColumnValue<'_>) -> usize {
        match (self, cell) {
            (Builder::Text(column), ColumnValue::Text(text)) => {
                let bytes = text.as_ref().map_or(0, |text| text.len());
                column.append_option(text);
                return bytes;
            }
            (Builder::Whole(column), ColumnValue::Whole(number)) => column.append_option(number),
            (Builder::Decimal(column), ColumnValue::Decimal(number)) => {
                column.append_option(number)
            }
            // Cells have the types of their columns.
            (Builder::Text(column), _) => column.append_null(),
            (Builder::Whole(column), _) => column.append_null(),
            (Builder::Decimal(column), _) => column.append_null(),
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(column) => Arc::new(column.finish()),
            Builder::Whole(column) => Arc::new(column.finish()),
            Builder::Decimal(column) => Arc::new(column.finish()),
        }
    }
}

fn error(path: &Path, cause: parquet::errors::ParquetError) -> Error {
    Error::new(ErrorKind::Write, "cannot be written as Parquet")
        .in_file(path)
        .caused_by(std::io::Error::other(cause))
}

#[cfg(test)]
mod tests {
    use super::super::pairs::tests::examples;
    use super::*;
    use std::fs::File;

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    fn read(path: &Path) -> (SchemaRef, usize, Vec<RecordBatch>) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let groups = builder.metadata().num_row_groups();
        let schema = builder.schema().clone();
        let batches = builder.build().unwrap();
        (
            schema,
            groups,
            batches.map(|batch| batch.unwrap()).collect(),
        )
    }

    /// The value of a cell of a file.
    fn cell(column: &ArrayRef, kind: Kind, row: usize) -> ColumnValue<'static> {
        let is_there = column.is_valid(row);
        match kind {
            Kind::Text => {
                let text = column.as_string::<i32>().value(row).to_owned();
                ColumnValue::Text(is_there.then(|| text.into()))
            }
            Kind::Whole => {
                let number = column.as_primitive::<UInt64Type>().value(row);
                ColumnValue::Whole(is_there.then_some(number))
            }
            Kind::Decimal => {
                let number = column.as_primitive::<Float64Type>().value(row);
                ColumnValue::Decimal(is_there.then_some(number))
            }
        }
    }

    /// Promise (Deduplication): The list of pairs has the same …
    #[test]
    fn pairs_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.parquet");
        let examples = examples();
        for count in [0, 1, ROWS, ROWS + 3] {
            let mut pairs =
                ParquetPairs::create(&path, AtomicFile::create(&path).unwrap()).unwrap();
            let example = |number: usize| examples[number % examples.len()];
            (0..count).for_each(|number| pairs.add(&example(number)).unwrap());
            pairs.publish().unwrap();
            let (schema, _, batches) = read(&path);
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect();
            assert_eq!(names, COLUMNS.map(|column| column.name));
            let mut number = 0;
            for batch in &batches {
                for row in 0..batch.num_rows() {
                    let found: Vec<ColumnValue<'_>> = COLUMNS
                        .iter()
                        .zip(batch.columns())
                        .map(|(kind, column)| cell(column, kind.kind, row))
                        .collect();
                    assert_eq!(found, example(number).cells());
                    number += 1;
                }
            }
            assert_eq!(number, count);
        }
    }

    /// Promise (Deduplication): Reports are written in bounded memory, for …
    #[test]
    fn long_ids_make_small_batches_and_groups() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.parquet");
        let mut pairs = ParquetPairs::create(&path, AtomicFile::create(&path).unwrap()).unwrap();
        let mut seed = 1u64;
        for _ in 0..60 {
            // Text that does not compress well.
            let id: String = std::iter::repeat_with(|| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b' ' + (seed >> 58) as u8)
            })
            .take(1 << 20)
            .collect();
            let example = Pair {
                id: id.as_bytes(),
                ..examples()[0]
            };
            pairs.add(&example).unwrap();
            assert!(pairs.text_bytes < TEXT_BYTES);
            assert!(pairs.writer.in_progress_size() <= GROUP_BYTES);
        }
        pairs.publish().unwrap();
        let (_, groups, batches) = read(&path);
        assert!(groups >= 2, "{groups}");
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 60);
    }
}
