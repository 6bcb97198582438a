//! The reader of the rows of a Parquet file, in bounded batches.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::RowGroupMetaData;

use simtool_files::InputPath;

use super::catch_panic::catch_panic;
use super::dictionary;
use super::table_file::TableFile;
use super::validation::{footer, pages};
use crate::reading::Reading;
use crate::{Error, ErrorKind, Result};

/// The maximum number of rows of a batch.
pub(super) const MAX_ROWS: u64 = 8192;
/// The maximum number of bytes that values of a batch may repeat from dictionaries or other values.
const MAX_REPEATED_BYTES: u64 = 16 << 20;
/// The maximum size of a page, as a multiple of the maximum size of a document. A document needs
/// about this multiple of its size while it is processed. Pages have about a megabyte, but some
/// writers check the size only after every thousand rows.
const PAGE_OF_DOCUMENTS: u64 = 8;
/// The bounds of the maximum size of a page.
const MIN_PAGE_BYTES: u64 = 64 << 20;
const MAX_PAGE_BYTES: u64 = 512 << 20;

/// A Parquet file and those of its columns that are read.
#[derive(Clone, Debug)]
pub struct Table {
    file: TableFile,
    metadata: ArrowReaderMetadata,
    rows: u64,
    columns: ProjectionMask,
    batch_bytes: u64,
    max_page_bytes: u64,
}

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of the first one in the file.
    pub first_row: u64,
    /// The number of rows.
    pub rows: u64,
    /// A description of the damage, with the row group.
    pub detail: String,
}

impl Table {
    /// Opens `path` for the fields named by `reading`. The inner error describes damage: not a Parquet
    /// file, or a footer with impossible claims.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Read`] if the file cannot be opened; [`ErrorKind::Parameter`] if it lacks the
    /// text column; [`ErrorKind::Content`] if this build does not support the codec of a required
    /// column.
    pub fn open<'a>(
        path: impl Into<InputPath<'a>>,
        reading: &Reading,
    ) -> Result<std::result::Result<Table, String>> {
        let path = path.into();
        let file = TableFile::open(path)?;
        let bytes = file.bytes();
        let loaded = footer::check(&file).and_then(|()| load(&file, true));
        let metadata = match loaded.and_then(|loaded| check(&loaded, bytes).map(|()| loaded)) {
            Ok(metadata) => metadata,
            Err(detail) => {
                file.check()?;
                return Ok(Err(detail));
            }
        };
        let named = named_fields(reading);
        let columns = leaves(&metadata, &named);
        let schema = metadata.parquet_schema();
        if !leaves(&metadata, &named[..1])
            .iter()
            .any(|&is_named| is_named)
        {
            let names: Vec<_> = schema
                .root_schema()
                .get_fields()
                .iter()
                .map(|field| field.name())
                .collect();
            let message = format!(
                "there is no column {:?} for the text; the columns are {} (leave the file out with \
                 --exclude, or name the column with --text-field)",
                reading.text_field,
                names.join(", ")
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(path));
        }
        let columns_read: &dyn Fn(usize) -> bool = &|leaf| columns.get(leaf) == Some(&true);
        check_codecs(&path, &metadata, columns_read)?;
        let wanted = columns.iter().enumerate().filter(|(_, wanted)| **wanted);
        let columns = ProjectionMask::leaves(schema, wanted.map(|(leaf, _)| leaf));
        let batch_bytes = (reading.chunk_bytes as u64).max(1);
        let max_page_bytes = reading
            .max_document_bytes
            .saturating_mul(PAGE_OF_DOCUMENTS)
            .clamp(MIN_PAGE_BYTES, MAX_PAGE_BYTES);
        let groups = metadata.metadata().row_groups();
        Ok(Ok(Table {
            file,
            rows: groups.iter().map(rows_of).sum(),
            metadata,
            columns,
            batch_bytes,
            max_page_bytes,
        }))
    }

    /// Refuses a file with any column, required or not, whose codec this build does not support.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] naming the column and its codec.
    pub fn check_all_codecs(&self, path: &Path) -> Result<()> {
        check_codecs(path, &self.metadata, &|_| true)
    }

    /// The same file with all of its columns.
    #[must_use]
    pub fn with_all_columns(self) -> Table {
        Table {
            columns: ProjectionMask::all(),
            ..self
        }
    }

    /// The columns of the file.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The number of rows of the file.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows from number `from` on, in order.
    ///
    /// If `from` is the first row of a batch, the borders are the same as when reading from the first
    /// row. They depend only on the file and on the chunk size.
    pub fn batches(&self, from: u64) -> Batches {
        Batches {
            table: self.clone(),
            group: 0,
            row: 0,
            group_end: 0,
            from,
            reader: None,
        }
    }

    /// The first row of each of `count` sections, and the number of rows. A row group belongs to the
    /// section in which it begins, according to the metadata, and never to an earlier one than the
    /// row groups before it.
    pub fn sections(&self, count: u64, reading: &Reading) -> Vec<u64> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut borders = vec![0];
        let mut row = 0;
        for group in self.metadata.metadata().row_groups() {
            let starts = group.columns().first().map(|column| {
                let data = column.data_page_offset();
                claim(column.dictionary_page_offset().unwrap_or(data))
            });
            let section = starts.unwrap_or(0) / reading.section_bytes.max(1);
            let section = usize::try_from(section).map_or(count, |section| section.min(count - 1));
            while borders.len() <= section {
                borders.push(row);
            }
            row += rows_of(group);
        }
        borders.resize(count + 1, row);
        borders
    }

    /// The number of rows of a batch of `group`. It assumes that all values are as long as in the page
    /// with the longest values, and that each may repeat the longest value of a dictionary. A batch
    /// may still be as long as a page, if long values are together among very short ones. The error
    /// describes impossible claims of a page.
    fn batch_rows(&self, group: &RowGroupMetaData) -> std::result::Result<usize, String> {
        let (mut row_bytes, mut repeated) = (0u64, 0u64);
        for (leaf, column) in group.columns().iter().enumerate() {
            if self.columns.leaf_included(leaf) {
                let sizes = pages::check(&self.file, column, self.max_page_bytes)?;
                // Includes the dictionary.
                let mean = claim(column.uncompressed_size()) / rows_of(group).max(1);
                row_bytes = row_bytes.saturating_add(sizes.mean.max(mean));
                repeated = repeated.saturating_add(sizes.repeated);
                if sizes.has_dictionary {
                    let longest = dictionary::longest(&self.file, column, rows_of(group))?;
                    repeated = repeated.saturating_add(longest);
                }
            }
        }
        let rows = (self.batch_bytes / row_bytes.max(1)).min(MAX_REPEATED_BYTES / repeated.max(1));
        Ok(rows.clamp(1, MAX_ROWS) as usize)
    }
}

/// The rows of a batch for which `is_kept` holds, in order; `is_kept` has a value for each row.
///
/// # Errors
/// [`ErrorKind::Content`] if Arrow does not support a type.
pub fn kept_rows(batch: &RecordBatch, is_kept: Vec<bool>) -> Result<RecordBatch> {
    filter_record_batch(batch, &BooleanArray::from(is_kept)).map_err(|cause| {
        Error::new(
            ErrorKind::Content,
            format!("rows cannot be selected: {cause}"),
        )
    })
}

/// The batches of a [`Table`], and its lost rows.
///
/// After damage, the rest of the row group is lost; the next row groups are read. If the file cannot
/// be read, that is an error, and so is every later item.
pub struct Batches {
    table: Table,
    /// The next row group to open.
    group: usize,
    /// The next row to return.
    row: u64,
    /// The first row after the open group.
    group_end: u64,
    from: u64,
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    /// The number of the first row and the rows, or the lost rows.
    type Item = Result<std::result::Result<(u64, RecordBatch), Lost>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch()?;
        Some(self.table.file.check().map(|()| next))
    }
}

impl Batches {
    /// The number of rows of the file.
    pub fn rows(&self) -> u64 {
        self.table.rows()
    }

    fn next_batch(&mut self) -> Option<std::result::Result<(u64, RecordBatch), Lost>> {
        loop {
            let Some(mut reader) = self.reader.take() else {
                match self.open_group()? {
                    Ok(()) => continue,
                    Err(detail) => return Some(Err(self.lose(detail))),
                }
            };
            // After an error, the reader and the rest of its row group are dropped.
            match catch_panic(|| reader.next().transpose()) {
                Ok(Some(batch)) if batch.num_rows() as u64 <= self.group_end - self.row => {
                    let first_row = self.row;
                    self.row += batch.num_rows() as u64;
                    // After its last row the group is not read again, as when reading begins
                    // there.
                    self.reader = (self.row < self.group_end).then_some(reader);
                    if batch.num_rows() > 0 {
                        return Some(Ok((first_row, batch)));
                    }
                }
                Ok(None) => return Some(Err(self.lose("rows are missing".to_owned()))),
                Ok(Some(_)) => return Some(Err(self.lose("there are too many rows".to_owned()))),
                Err(detail) => return Some(Err(self.lose(detail))),
            }
        }
    }

    /// Opens the next row group with rows to return; `None` if there is none.
    fn open_group(&mut self) -> Option<std::result::Result<(), String>> {
        let metadata = Arc::clone(self.table.metadata.metadata());
        loop {
            let group = metadata.row_groups().get(self.group)?;
            self.group += 1;
            let start = self.group_end;
            self.group_end += rows_of(group);
            self.row = start.max(self.from);
            if self.row >= self.group_end {
                continue;
            }
            let opened = self.reader_of(self.group - 1, group, self.row - start);
            return Some(opened.map(|reader| self.reader = Some(reader)));
        }
    }

    fn reader_of(
        &self,
        number: usize,
        group: &RowGroupMetaData,
        skipped: u64,
    ) -> std::result::Result<ParquetRecordBatchReader, String> {
        let Table {
            file,
            metadata,
            columns,
            ..
        } = &self.table;
        let file = file.clone();
        let rows = self.table.batch_rows(group)?;
        let skipped = usize::try_from(skipped).map_err(|error| error.to_string())?;
        catch_panic(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_row_groups(vec![number])
                .with_projection(columns.clone())
                .with_batch_size(rows)
                .with_offset(skipped)
                .build()
        })
    }

    /// Abandons the rest of the open row group.
    fn lose(&mut self, detail: String) -> Lost {
        let first_row = self.row;
        self.row = self.group_end;
        self.reader = None;
        let detail = format!("row group {}: {detail}", self.group - 1);
        Lost {
            first_row,
            rows: self.group_end - first_row,
            detail,
        }
    }
}

/// Reads the footer, if `plain` without the schema that Arrow stored.
pub(super) fn load(
    file: &TableFile,
    plain: bool,
) -> std::result::Result<ArrowReaderMetadata, String> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(plain);
    catch_panic(|| ArrowReaderMetadata::load(file, options))
}

/// Checks that the footer makes no impossible claims for a file of `file_bytes`.
pub(super) fn check(
    metadata: &ArrowReaderMetadata,
    file_bytes: u64,
) -> std::result::Result<(), String> {
    let mut rows = 0u64;
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let wrong = |what: &str, value: i64| Err(format!("row group {number}: {what} of {value}"));
        rows = match u64::try_from(group.num_rows())
            .ok()
            .and_then(|more| rows.checked_add(more))
        {
            Some(rows) => rows,
            None => return wrong("a number of rows", group.num_rows()),
        };
        for column in group.columns() {
            let compressed = column.compressed_size();
            let start = column
                .dictionary_page_offset()
                .unwrap_or(column.data_page_offset());
            let end = u64::try_from(start)
                .ok()
                .zip(u64::try_from(compressed).ok());
            let end = end.and_then(|(start, bytes)| start.checked_add(bytes));
            if end.is_none_or(|end| end > file_bytes) {
                return wrong(
                    "a column that ends outside the file, with a size",
                    compressed,
                );
            }
            if column.uncompressed_size() < 0 {
                return wrong(
                    "a column with a decompressed size",
                    column.uncompressed_size(),
                );
            }
        }
    }
    Ok(())
}

/// Refuses columns with unsupported codecs, among those for which `is_read` returns `true`.
fn check_codecs(
    path: &Path,
    metadata: &ArrowReaderMetadata,
    is_read: &dyn Fn(usize) -> bool,
) -> Result<()> {
    for group in metadata.metadata().row_groups() {
        let read = group.columns().iter().enumerate();
        for (_, column) in read.filter(|(leaf, _)| is_read(*leaf)) {
            let codec = match column.compression() {
                Compression::UNCOMPRESSED
                | Compression::SNAPPY
                | Compression::GZIP(_)
                | Compression::ZSTD(_)
                | Compression::LZ4
                | Compression::LZ4_RAW => continue,
                Compression::BROTLI(_) => "Brotli",
                Compression::LZO => "LZO",
            };
            let message = format!(
                "the column {:?} is compressed with {codec}, which is not supported: write the file \
                 again with zstd, snappy, gzip or lz4",
                column.column_path().string(),
            );
            return Err(Error::new(ErrorKind::Content, message).in_file(path));
        }
    }
    Ok(())
}

fn rows_of(group: &RowGroupMetaData) -> u64 {
    claim(group.num_rows())
}

/// A number of the footer; [`check`] refuses negative ones.
fn claim(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The names of the fields to read, the text first.
fn named_fields(reading: &Reading) -> Vec<&str> {
    let fields = [
        &reading.text_field,
        &reading.id_field,
        &reading.url_field,
        &reading.date_field,
    ];
    fields
        .into_iter()
        .chain(&reading.fields)
        .map(String::as_str)
        .collect()
}

/// For each leaf column, whether it is one of `names` or nested in one.
fn leaves(metadata: &ArrowReaderMetadata, names: &[&str]) -> Vec<bool> {
    let is_named = |path: &str| {
        names.iter().any(|name| {
            let behind = path.strip_prefix(name);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
        })
    };
    let columns = metadata.parquet_schema().columns();
    columns
        .iter()
        .map(|column| is_named(&column.path().string()))
        .collect()
}
