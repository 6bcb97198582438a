//! Rows of a report as a Parquet file.

use std::path::{Path, PathBuf};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::BatchBuilder;
use crate::columns::{Column, ColumnValue};
use crate::{Error, ErrorKind, Result};
use simtool_files::AtomicFile;

/// The encoded size of a row group in bytes; it is held in memory until complete.
const GROUP_BYTES: usize = 16 << 20;

/// Writes rows into a Parquet file.
///
/// Ids are text: invalid UTF-8 becomes replacement characters. Memory: a batch, a row group, and
/// one row of any length.
pub struct ParquetTable {
    batch: BatchBuilder<i32>,
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
}

impl ParquetTable {
    /// Starts the table in `file`, which will be published as `path`. Texts of the columns `long` may
    /// have any length.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(
        path: &Path,
        file: AtomicFile,
        columns: &[Column],
        long: &[&'static str],
    ) -> Result<ParquetTable> {
        let columns = columns.iter();
        let batch =
            BatchBuilder::new(columns.map(|column| (column.name, column.kind, column.may_lack)));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        // Dictionaries and statistics must not copy long texts.
        for column in long {
            properties = properties
                .set_column_dictionary_enabled((*column).into(), false)
                .set_column_statistics_enabled((*column).into(), EnabledStatistics::None);
        }
        let writer = ArrowWriter::try_new(file, batch.schema().clone(), Some(properties.build()))
            .map_err(|cause| error(path, cause))?;
        Ok(ParquetTable {
            batch,
            writer,
            path: path.to_owned(),
        })
    }

    /// Adds a row: a cell for each column.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn add<'c>(&mut self, cells: impl IntoIterator<Item = ColumnValue<'c>>) -> Result<()> {
        self.batch.add(cells);
        match self.batch.is_full() {
            true => self.flush(),
            false => Ok(()),
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
        let batch = self.batch.finish();
        let batch = batch.map_err(|cause| failed(cause.into()))?;
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }
}

fn error(path: &Path, cause: parquet::errors::ParquetError) -> Error {
    Error::new(ErrorKind::Write, "cannot be written as Parquet")
        .in_file(path)
        .caused_by(std::io::Error::other(cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::tests::examples;
    use crate::pairs::{COLUMNS, LONG, Pair};
    use crate::record_batches::ROWS;
    use crate::record_batches::tests::cell;
    use std::fs::File;

    use arrow_array::RecordBatch;
    use arrow_schema::SchemaRef;
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

    /// Promise (Deduplication): The list of pairs has the same …
    #[test]
    fn pairs_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.parquet");
        let examples = examples();
        for count in [0, 1, ROWS, ROWS + 3] {
            let mut pairs =
                ParquetTable::create(&path, AtomicFile::create(&path).unwrap(), &COLUMNS, &LONG)
                    .unwrap();
            let example = |number: usize| examples[number % examples.len()];
            (0..count).for_each(|number| pairs.add(example(number).cells()).unwrap());
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
                        .map(|(kind, column)| cell::<i32>(column, kind.kind, row))
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
        let file = AtomicFile::create(&path).unwrap();
        let mut pairs = ParquetTable::create(&path, file, &COLUMNS, &LONG).unwrap();
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
            pairs.add(example.cells()).unwrap();
            assert!(!pairs.batch.is_full());
            assert!(pairs.writer.in_progress_size() <= GROUP_BYTES);
        }
        pairs.publish().unwrap();
        let (_, groups, batches) = read(&path);
        assert!(groups >= 2, "{groups}");
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 60);
    }
}
