//! Shards of JSON Lines.

use std::ops::Range;

use memchr::memmem;

use super::encoder::{Encoder, ShardDocument, ShardRecord};
#[cfg(feature = "parquet")]
use super::encoder::{SelectedRows, ShardRecords};
use super::json_value::{append, append_text};
use super::text_record::{TextRecord, lossy};
use crate::scope::Languages;
use crate::shards::settings::shard_settings::{ShardSettings, TEXT_FIELDS};
use crate::table::stamp::changed;
use crate::write::packing::compress;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::json_text::{members, with_text};
use simtool_corpus::{Compression, Document, Format, Reading};
use simtool_files::AtomicFile;

/// Writes documents as JSON Lines, in gzip members or zstd frames of half a megabyte, which several
/// threads can decompress.
pub struct JsonLines<'a> {
    compression: Compression,
    level: Option<u32>,
    /// How documents are read.
    reading: &'a Reading,
    /// The name of the source field, and the same as JSON.
    source_field: String,
    source_key: Vec<u8>,
    /// Whether documents with fields of their own are written by their text.
    only_text: bool,
    languages: Languages,
}

impl<'a> JsonLines<'a> {
    /// Writes records of documents that are read as `reading` says.
    pub fn new(
        settings: &ShardSettings,
        level: Option<u32>,
        only_text: bool,
        reading: &'a Reading,
    ) -> JsonLines<'a> {
        let mut source_key = Vec::new();
        append(&mut source_key, &settings.source_field);
        JsonLines {
            compression: settings.format.compression(),
            level,
            reading,
            source_field: settings.source_field.clone(),
            source_key,
            only_text,
            languages: Languages::new(&reading.fields, settings.guess_language),
        }
    }

    /// Appends a line with the document's text and what is known of it.
    fn text_line(&self, out: &mut Vec<u8>, named: &ShardDocument<'_>) {
        let record = TextRecord::new(named, &self.languages);
        let [id, url, date, text, language, digest, start, member] = TEXT_FIELDS;
        let mut first = b"{";
        let mut key = |out: &mut Vec<u8>, name: &str| {
            out.extend_from_slice(first);
            first = b",";
            append(out, name);
            out.push(b':');
        };
        key(out, id);
        append(out, &record.id);
        key(out, url);
        append(out, &record.url);
        key(out, date);
        append(out, &record.date);
        key(out, text);
        append_text(out, &record.text);
        key(out, language);
        append(out, &record.language);
        key(out, digest);
        append(out, &record.digest);
        key(out, &self.source_field);
        append(out, &record.source);
        key(out, start);
        append(out, &record.start);
        key(out, member);
        append(out, &record.member);
        out.extend_from_slice(b"}\n");
    }

    /// Appends the line of a document with its source; returns whether it has such a field already.
    fn own_line(&self, out: &mut Vec<u8>, named: &ShardDocument<'_>) -> Option<bool> {
        let Document { raw, text, .. } = *named.document;
        let field = &self.reading.text_field;
        let new = match named.has_new_text {
            true => Some(with_text(raw, field, text)?),
            false => None,
        };
        let line = lossy(new.as_deref().unwrap_or(raw));
        let line = line.trim_ascii();
        let has_source = self.has_source(line);
        let head = line.strip_suffix('}')?;
        out.extend_from_slice(head.as_bytes());
        if !has_source {
            if !head.trim_ascii_end().ends_with('{') {
                out.push(b',');
            }
            out.extend_from_slice(&self.source_key);
            out.push(b':');
            append(out, &named.source.path.to_string_lossy());
        }
        out.extend_from_slice(b"}\n");
        Some(has_source)
    }

    /// Whether an object has the source field. Most lines contain neither its name nor an escape that
    /// may stand for one of its letters.
    fn has_source(&self, line: &str) -> bool {
        let may_have = memmem::find(line.as_bytes(), &self.source_key).is_some()
            || memmem::find(line.as_bytes(), b"\\u").is_some();
        let has =
            |found: Vec<(String, &str)>| found.iter().any(|(name, _)| *name == self.source_field);
        may_have && members(line).is_some_and(has)
    }
}

impl Encoder for JsonLines<'_> {
    type Content = Vec<u8>;
    type Builder = Vec<u8>;
    type Block = Vec<u8>;
    type Encoded = Vec<u8>;
    type File = AtomicFile;

    // Threads decompress members of up to a megabyte ahead of a reader.
    const BLOCK_BYTES: u64 = 512 << 10;
    // pandas, polars and `datasets` refuse them.
    const HAS_EMPTY_FILES: bool = false;

    fn builder(&self) -> Vec<u8> {
        Vec::new()
    }

    fn add(&self, builder: &mut Vec<u8>, named: &ShardDocument<'_>) -> Result<ShardRecord> {
        let start = builder.len();
        let has_fields = named.source.format == Format::Jsonl && !self.only_text;
        let has_own_source = match has_fields {
            true => self
                .own_line(builder, named)
                .ok_or_else(|| changed(named.source))?,
            false => {
                self.text_line(builder, named);
                false
            }
        };
        Ok(ShardRecord {
            number: named.number,
            bytes: (builder.len() - start) as u64,
            has_own_source,
        })
    }

    fn finish(&self, builder: Vec<u8>) -> Result<Vec<u8>> {
        Ok(builder)
    }

    #[cfg(feature = "parquet")]
    fn rows(&self, selected: &SelectedRows<'_>) -> Result<ShardRecords<Vec<u8>>> {
        let SelectedRows {
            source,
            batch,
            numbers,
            ..
        } = selected;
        let (mut content, mut each) = (Vec::new(), Vec::new());
        let path = source.path.to_string_lossy();
        for (row, &number) in numbers.iter().enumerate() {
            let start = content.len();
            crate::shards::formats::row_json::append_object(&mut content, batch, row, |_| true);
            // Closes with the source instead.
            content.pop();
            if batch.num_columns() > 0 {
                content.push(b',');
            }
            content.extend_from_slice(&self.source_key);
            content.push(b':');
            append(&mut content, &path);
            content.extend_from_slice(b"}\n");
            let bytes = (content.len() - start) as u64;
            each.push(ShardRecord {
                number,
                bytes,
                has_own_source: false,
            });
        }
        Ok(ShardRecords { content, each })
    }

    fn block(&self) -> Vec<u8> {
        Vec::new()
    }

    fn append(&self, block: &mut Vec<u8>, content: &Vec<u8>, _: Range<usize>, bytes: Range<usize>) {
        block.extend_from_slice(&content[bytes]);
    }

    fn encode(&self, block: Vec<u8>) -> Result<Vec<u8>> {
        if self.compression == Compression::None {
            return Ok(block);
        }
        let mut out = Vec::new();
        compress(self.compression, self.level, &block, &mut out).map_err(|cause| {
            Error::new(ErrorKind::Write, "records cannot be compressed").caused_by(cause)
        })?;
        Ok(out)
    }

    fn open(&self, file: AtomicFile) -> Result<AtomicFile> {
        Ok(file)
    }

    fn write(&self, file: &mut AtomicFile, encoded: Vec<u8>) -> Result<()> {
        (file.write_block(&encoded)).map_err(|cause| file.error(cause))
    }

    fn close(&self, file: AtomicFile) -> Result<AtomicFile> {
        Ok(file)
    }
}
