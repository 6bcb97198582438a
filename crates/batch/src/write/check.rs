//! Checks of inputs that are written again, before anything is read.

use super::packing::levels;
use super::settings::DumpSettings;
use crate::{Error, ErrorKind, Result};
#[cfg(feature = "parquet")]
use simtool_corpus::Reading;
#[cfg(feature = "parquet")]
use simtool_corpus::parquet::Table;
use simtool_corpus::{Format, Source};

/// Refuses formats and compression levels that cannot be written, before anything is read.
///
/// # Errors
/// [`ErrorKind::Parameter`] for marks in a format that has no place for them, and for a level that
/// a compression does not have.
pub fn check_files(sources: &[Source], marks: bool, settings: DumpSettings) -> Result<()> {
    let refuse = |source: &Source, message: String| {
        Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
    };
    for source in sources.iter().filter(|source| !source.is_stream()) {
        let has_place = match source.format {
            Format::FormFeed | Format::WholeFile | Format::Html | Format::Arc => false,
            Format::Jsonl | Format::Warc | Format::Parquet => true,
        };
        if marks && !has_place {
            let message = format!(
                "{} has no place for a mark (choose --write kept or ids)",
                source.format.name()
            );
            return refuse(source, message);
        }
        let levels = levels(source.compression);
        if let (Some(level), Some(levels)) = (settings.compression_level, levels)
            && !levels.contains(&level)
        {
            let message = format!(
                "is compressed with {}, which has no compression level {level}: choose {} to {}",
                source.compression.name(),
                levels.start,
                levels.end - 1
            );
            return refuse(source, message);
        }
    }
    Ok(())
}

/// Refuses tables without the text column, or with an unsupported codec in a required column. If
/// the tables are copied (`is_copied`), all columns are required.
///
/// # Errors
/// Errors of [`Table::open`] and [`Table::check_all_codecs`].
#[cfg(feature = "parquet")]
pub fn check_tables(sources: &[Source], reading: &Reading, is_copied: bool) -> Result<()> {
    let is_file = |source: &&Source| !source.is_stream() && source.has_file();
    let tables = sources
        .iter()
        .filter(|source| source.format == Format::Parquet);
    for source in tables.filter(is_file) {
        if let Ok(table) = Table::open(source.file(), reading)?
            && is_copied
        {
            table.check_all_codecs(&source.file())?;
        }
    }
    Ok(())
}

/// Refuses inputs in formats into which changed texts cannot be written back.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the file.
pub fn check_texts(inputs: &[Source]) -> Result<()> {
    let has_place = |source: &&Source| match source.format {
        Format::FormFeed | Format::WholeFile | Format::Jsonl => true,
        Format::Html | Format::Warc | Format::Arc | Format::Parquet => source.is_stream(),
    };
    match inputs.iter().find(|source| !has_place(source)) {
        Some(source) => {
            let message = format!(
                "is {}, and changed texts can be written back only into JSON Lines, form-feed text \
                 and plain files (choose shards instead, such as --write-format jsonl.zst, or \
                 --action mark, whose spans.jsonl has the ranges, or drop-document:SHARE)",
                source.format.name()
            );
            Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
        }
        None => Ok(()),
    }
}
