//! Shards of Parquet.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use serde_json::{Map, Value};

use super::encoder::{Encoder, SelectedRows, ShardDocument, ShardRecord, ShardRecords};
use super::json_value::append;
use super::layout::{Kind, Layout};
use super::row_bytes::row_bytes;
use super::row_json::append_object;
use super::text_record::{TextRecord, id, known, lossy};
use crate::scope::Languages;
use crate::shards::settings::shard_settings::FIELDS;
use crate::table::stamp::changed;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::json_text::{members, text, with_text};
use simtool_corpus::parquet::Fields;
use simtool_corpus::{Format, Place, Reading};
use simtool_engine::naming::name;
use simtool_files::AtomicFile;

/// The level of zstd, unless the job has one.
const LEVEL: i32 = 3;
/// Values after which the size of a page is checked; texts may be long.
const PAGE_CHECK_VALUES: usize = 64;

/// Writes documents as rows of Parquet, in row groups of 64 MiB.
pub struct Tables<'a> {
    layout: Layout,
    properties: WriterProperties,
    row_groups: ArrowRowGroupWriterFactory,
    reading: &'a Reading,
    languages: Languages,
}

impl<'a> Tables<'a> {
    /// Writes rows with the columns of `layout`, compressed with a level of zstd.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a level that zstd does not have, and for types that Parquet does
    /// not have.
    pub fn new(
        layout: Layout,
        level: Option<u32>,
        reading: &'a Reading,
        languages: Languages,
    ) -> Result<Tables<'a>> {
        let level = level.map_or(LEVEL, u32::cast_signed);
        let refused = |cause: &dyn Display| {
            Error::new(
                ErrorKind::Parameter,
                format!("cannot write Parquet: {cause}"),
            )
        };
        let level = ZstdLevel::try_new(level).map_err(|cause| refused(&cause))?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_write_batch_size(PAGE_CHECK_VALUES);
        // Values that rarely repeat.
        let text_field = match layout.kind {
            Kind::Own => &reading.text_field,
            Kind::Text | Kind::Fields => "text",
        };
        for column in [text_field, "id", "url", FIELDS] {
            properties = properties.set_column_dictionary_enabled(column.into(), false);
        }
        let properties = properties.build();
        let nowhere = ArrowWriter::try_new(
            std::io::sink(),
            layout.schema.clone(),
            Some(properties.clone()),
        );
        let (_, row_groups) = nowhere
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|cause| refused(&cause))?;
        Ok(Tables {
            layout,
            properties,
            row_groups,
            reading,
            languages,
        })
    }

    /// Appends a document with its text and what is known of it.
    fn add_text(&self, rows: &mut ColumnBuilders, named: &ShardDocument<'_>) -> Result<u64> {
        let record = TextRecord::new(named, &self.languages);
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (start, member) = (number(record.start), record.member.map(number));
        let labels = [Some(Cow::Borrowed(&*record.id)), record.url, record.date];
        let mut bytes = rows.add_common(labels, &record.text, &record.source)?;
        match self.layout.kind {
            Kind::Fields => {
                let mut fields = Map::new();
                let language = record.language.map_or(Value::Null, Value::from);
                fields.insert("language".to_owned(), language);
                fields.insert("xxh3_128".to_owned(), record.digest.into());
                fields.insert("start".to_owned(), start.into());
                fields.insert("member".to_owned(), member.into());
                bytes += push(&mut rows.fields, Some(&Value::from(fields).to_string()))?;
            }
            Kind::Text | Kind::Own => {
                bytes += push(&mut rows.language, record.language.as_deref())?;
                bytes += push(&mut rows.digest, Some(&record.digest))?;
                rows.start.append_value(start);
                rows.member.append_option(member);
                bytes += 8 + member.map_or(0, |_| 8);
            }
        }
        Ok(bytes)
    }

    /// Appends a JSON line: its text, id, URL and date, and its other fields as they are written.
    fn add_line(&self, rows: &mut ColumnBuilders, named: &ShardDocument<'_>) -> Result<u64> {
        let document = named.document;
        let changed = || changed(named.source);
        let line = lossy(document.raw);
        let text_field = &self.reading.text_field;
        let own_text = match named.has_new_text {
            true => lossy(document.text),
            false => Cow::Owned(text(line.as_bytes(), text_field).ok_or_else(changed)?),
        };
        let line = match text_field.contains('.') {
            // The text is a part of another field.
            true => with_text(line.as_bytes(), text_field, b"").ok_or_else(changed)?,
            false => line.into_owned().into_bytes(),
        };
        let line = lossy(&line);
        let mut fields = b"{".to_vec();
        for (name, value) in members(&line).ok_or_else(changed)? {
            if name == *text_field || self.is_label(&name) && value.starts_with('"') {
                continue;
            }
            if fields.len() > 1 {
                fields.push(b',');
            }
            append(&mut fields, &name);
            fields.push(b':');
            fields.extend_from_slice(value.as_bytes());
        }
        fields.push(b'}');
        let id = id(named);
        let labels = [
            Some(Cow::Owned(id)),
            known(document.url),
            known(document.date),
        ];
        let source = named.source.path.to_string_lossy();
        let common = rows.add_common(labels, &own_text, &source)?;
        let fields = push(&mut rows.fields, Some(&String::from_utf8_lossy(&fields)))?;
        Ok(common + fields)
    }

    /// Whether this is the field of the id, URL or date.
    fn is_label(&self, name: &str) -> bool {
        let Reading {
            id_field,
            url_field,
            date_field,
            ..
        } = self.reading;
        [id_field, url_field, date_field]
            .iter()
            .any(|field| *field == name)
    }

    /// Appends the rows of a table: text, id, URL and date, and the other columns as JSON.
    fn add_rows(&self, rows: &mut ColumnBuilders, selected: &SelectedRows<'_>) -> Result<Vec<u64>> {
        let SelectedRows { source, batch, .. } = selected;
        let schema = batch.schema_ref();
        let is_other = |place: usize| {
            let field = schema.field(place);
            *field.name() != self.reading.text_field
                && !(self.is_label(field.name()) && field.data_type().is_string())
        };
        let mut found = Fields::of(batch, self.reading);
        let path = source.path.to_string_lossy();
        let mut bytes = Vec::new();
        for (place, &row) in selected.rows.iter().enumerate() {
            let own = found.row(place);
            let at = Place::new(0, simtool_corpus::NO_MEMBER, row, 1);
            let id = name(source, own.id, at);
            let labels = [
                Some(String::from_utf8_lossy(&id)),
                known(own.url),
                known(own.date),
            ];
            let own_text = String::from_utf8_lossy(own.text.unwrap_or_default());
            let mut fields = Vec::new();
            append_object(&mut fields, batch, place, is_other);
            let common = rows.add_common(labels, &own_text, &path)?;
            let fields = push(&mut rows.fields, Some(&String::from_utf8_lossy(&fields)))?;
            bytes.push(common + fields);
        }
        Ok(bytes)
    }

    /// The rows of a table with the columns of the layout.
    fn own_rows(&self, selected: &SelectedRows<'_>) -> Result<RecordBatch> {
        let SelectedRows { source, batch, .. } = selected;
        let path = source.path.to_string_lossy();
        let fields = self.layout.schema.fields();
        let others = &fields[..fields.len().saturating_sub(1)];
        let column = |field: &Arc<arrow_schema::Field>| match batch.column_by_name(field.name()) {
            Some(column) => Arc::clone(column),
            None => new_null_array(field.data_type(), batch.num_rows()),
        };
        let mut columns: Vec<ArrayRef> = others.iter().map(column).collect();
        let paths = std::iter::repeat_n(path.as_ref(), batch.num_rows());
        columns.push(Arc::new(arrow_array::StringArray::from_iter_values(paths)));
        RecordBatch::try_new(self.layout.schema.clone(), columns).map_err(unwritable)
    }
}

/// The columns of the rows of a chunk.
#[derive(Default)]
pub struct ColumnBuilders {
    id: StringBuilder,
    url: StringBuilder,
    date: StringBuilder,
    text: StringBuilder,
    language: StringBuilder,
    digest: StringBuilder,
    source: StringBuilder,
    start: Int64Builder,
    member: Int64Builder,
    fields: StringBuilder,
}

impl ColumnBuilders {
    /// Appends the values of the columns that all layouts but that of tables have; returns their
    /// bytes.
    fn add_common(
        &mut self,
        [id, url, date]: [Option<Cow<'_, str>>; 3],
        text: &str,
        source: &str,
    ) -> Result<u64> {
        Ok(push(&mut self.id, id.as_deref())?
            + push(&mut self.url, url.as_deref())?
            + push(&mut self.date, date.as_deref())?
            + push(&mut self.text, Some(text))?
            + push(&mut self.source, Some(source))?)
    }

    fn finish(mut self, layout: &Layout) -> Result<RecordBatch> {
        let of = |builder: &mut StringBuilder| -> ArrayRef {
            let mut array = builder.finish();
            // A row group is held in memory until it is complete.
            array.shrink_to_fit();
            Arc::new(array)
        };
        let mut columns = vec![
            of(&mut self.id),
            of(&mut self.url),
            of(&mut self.date),
            of(&mut self.text),
        ];
        match layout.kind {
            Kind::Fields => columns.extend([of(&mut self.source), of(&mut self.fields)]),
            Kind::Text | Kind::Own => columns.extend([
                of(&mut self.language),
                of(&mut self.digest),
                of(&mut self.source),
                Arc::new(self.start.finish()),
                Arc::new(self.member.finish()),
            ]),
        }
        RecordBatch::try_new(layout.schema.clone(), columns).map_err(unwritable)
    }
}

/// Appends a text; returns its bytes.
fn push(builder: &mut StringBuilder, text: Option<&str>) -> Result<u64> {
    let bytes = text.map_or(0, str::len);
    // Parquet and Arrow have no longer texts.
    if builder.values_slice().len() + bytes > i32::MAX as usize {
        let message = format!(
            "a text of {bytes} bytes is too long for Parquet (choose --write-format jsonl.zst)"
        );
        return Err(Error::new(ErrorKind::Content, message));
    }
    builder.append_option(text);
    Ok(bytes as u64)
}

fn unwritable(detail: impl Display) -> Error {
    Error::new(ErrorKind::Write, format!("cannot write Parquet: {detail}"))
}

impl Encoder for Tables<'_> {
    type Content = RecordBatch;
    type Builder = ColumnBuilders;
    type Block = Vec<RecordBatch>;
    type Encoded = Vec<ArrowColumnChunk>;
    type File = SerializedFileWriter<AtomicFile>;

    const BLOCK_BYTES: u64 = 64 << 20;
    const HAS_EMPTY_FILES: bool = true;

    fn builder(&self) -> ColumnBuilders {
        ColumnBuilders::default()
    }

    fn add(&self, rows: &mut ColumnBuilders, named: &ShardDocument<'_>) -> Result<ShardRecord> {
        let is_line = named.source.format == Format::Jsonl && self.layout.kind == Kind::Fields;
        let bytes = match is_line {
            true => self.add_line(rows, named)?,
            false => self.add_text(rows, named)?,
        };
        Ok(ShardRecord {
            number: named.number,
            bytes,
            has_own_source: false,
        })
    }

    fn finish(&self, rows: ColumnBuilders) -> Result<RecordBatch> {
        rows.finish(&self.layout)
    }

    fn rows(&self, selected: &SelectedRows<'_>) -> Result<ShardRecords<RecordBatch>> {
        let (content, bytes) = match self.layout.kind {
            Kind::Own => {
                let batch = self.own_rows(selected)?;
                let of_row = |row| {
                    let columns = batch.columns().iter();
                    columns.map(|column| row_bytes(column, row)).sum()
                };
                let bytes = (0..batch.num_rows()).map(of_row).collect();
                (batch, bytes)
            }
            Kind::Text | Kind::Fields => {
                let mut rows = ColumnBuilders::default();
                let bytes = self.add_rows(&mut rows, selected)?;
                (rows.finish(&self.layout)?, bytes)
            }
        };
        let each = selected.numbers.iter().zip(bytes);
        let each = each.map(|(&number, bytes): (&u32, u64)| ShardRecord {
            number,
            bytes,
            has_own_source: false,
        });
        Ok(ShardRecords {
            content,
            each: each.collect(),
        })
    }

    fn block(&self) -> Vec<RecordBatch> {
        Vec::new()
    }

    fn append(
        &self,
        block: &mut Vec<RecordBatch>,
        content: &RecordBatch,
        rows: Range<usize>,
        _: Range<usize>,
    ) {
        block.push(content.slice(rows.start, rows.len()));
    }

    fn encode(&self, block: Vec<RecordBatch>) -> Result<Vec<ArrowColumnChunk>> {
        let mut columns = self
            .row_groups
            .create_column_writers(0)
            .map_err(unwritable)?;
        for batch in block {
            let mut writers = columns.iter_mut();
            for (field, values) in self.layout.schema.fields().iter().zip(batch.columns()) {
                for leaf in compute_leaves(field, values).map_err(unwritable)? {
                    let writer = writers
                        .next()
                        .ok_or_else(|| unwritable("too many columns"))?;
                    writer.write(&leaf).map_err(unwritable)?;
                }
            }
        }
        let chunks = columns.into_iter().map(|column| column.close());
        chunks
            .collect::<std::result::Result<_, _>>()
            .map_err(unwritable)
    }

    fn open(&self, file: AtomicFile) -> Result<SerializedFileWriter<AtomicFile>> {
        let schema = self.layout.schema.clone();
        let writer = ArrowWriter::try_new(file, schema, Some(self.properties.clone()));
        let opened = writer.and_then(ArrowWriter::into_serialized_writer);
        opened.map(|(writer, _)| writer).map_err(unwritable)
    }

    fn write(
        &self,
        file: &mut SerializedFileWriter<AtomicFile>,
        encoded: Vec<ArrowColumnChunk>,
    ) -> Result<()> {
        let mut group = file.next_row_group().map_err(unwritable)?;
        for column in encoded {
            column.append_to_row_group(&mut group).map_err(unwritable)?;
        }
        group.close().map(drop).map_err(unwritable)
    }

    fn close(&self, file: SerializedFileWriter<AtomicFile>) -> Result<AtomicFile> {
        file.into_inner().map_err(unwritable)
    }
}
