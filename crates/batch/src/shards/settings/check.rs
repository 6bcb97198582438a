//! Checks of the inputs before their documents are written as shards.

use super::shard_settings::ShardSettings;
#[cfg(feature = "parquet")]
use super::shard_settings::WriteFormat;
#[cfg(feature = "parquet")]
use crate::shards::formats::layout::Layout;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::json_text::members;
#[cfg(feature = "parquet")]
use simtool_corpus::parquet::Table;
use simtool_corpus::{ChunkReader, Format, Position, Reading, Source};

/// The bytes at the beginning of a file whose lines are checked.
const BEGINNING_BYTES: usize = 64 << 10;

/// Refuses inputs that cannot be written as shards of these settings: tables whose columns differ in
/// their types, if they become one table, and inputs that have a field of their own with the name of the source field: tables by their
/// columns, JSON Lines by the documents at the beginning of each file.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the file; those of reading.
pub fn check(sources: &[Source], reading: &Reading, settings: &ShardSettings) -> Result<()> {
    #[cfg(feature = "parquet")]
    if settings.format == WriteFormat::Parquet {
        Layout::new(sources, reading, &settings.source_field, false)?;
    }
    for (source, number) in sources.iter().zip(0..) {
        let has_field = match source.format {
            _ if source.is_stream() => false,
            Format::Jsonl => lines_have(source, number, reading, &settings.source_field)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let table = Table::open(source.file(), reading)?;
                let name = &settings.source_field;
                table.is_ok_and(|table| table.schema().column_with_name(name).is_some())
            }
            _ => false,
        };
        if has_field {
            let message = format!(
                "has a field {name:?} of its own, the name of the field with the input file that \
                 is added to each record (give that another name, such as --source-field \
                 {name}_file)",
                name = settings.source_field
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path));
        }
    }
    Ok(())
}

/// Whether a line at the beginning of the file has the field.
fn lines_have(source: &Source, number: u32, reading: &Reading, name: &str) -> Result<bool> {
    let reading = &Reading {
        chunk_bytes: BEGINNING_BYTES,
        ..reading.clone()
    };
    let mut reader = ChunkReader::open(source, number, reading, Position::default())?;
    let Some(chunk) = reader.next(Vec::new())? else {
        return Ok(false);
    };
    let text = String::from_utf8_lossy(chunk.bytes());
    let mut lines = text.split('\n').filter_map(members);
    Ok(lines.any(|members| members.iter().any(|(found, _)| found == name)))
}
