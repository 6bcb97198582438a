//! The inputs once more, without the documents that go, or with a mark on each: the last reading.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use flate2::write::GzEncoder;

use crate::corpus::web::warc::{self, Next};
use crate::corpus::{Chunk, Compression, Format, Parsed, Parser, Reading, Source};
use crate::io::AtomicFile;
use crate::io::directory::create_all;
use crate::run::Progress;
use crate::run::pipeline::{Event, Pipeline, Unit};
use crate::{Error, ErrorKind, Result};

use super::bits::Bits;
use super::gathered::Gathered;
use super::known::KnownIds;
use super::numbering::Numbering;
use super::shingle_sets::changed;
use super::sketching::{Inputs, source_of};
use super::work::Outputs;

/// The usual effort of gzip and zstd.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// What is done to documents that go.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// They are left out.
    Leave,
    /// They get a mark with the id of the one that stays: pairs of numbers, sorted.
    Mark(&'a [(u32, u32)]),
}

/// What is needed to write the dump.
pub struct Dump<'a> {
    /// What is read.
    pub inputs: Inputs<'a>,
    /// How it is read.
    pub reading: &'a Reading,
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// Their labels.
    pub gathered: &'a Gathered,
    /// Known documents, if the input was compared with such.
    pub known: Option<&'a KnownIds>,
    /// Documents that go, and those that could not be read.
    pub dropped: &'a Bits,
    /// Where the files are recorded.
    pub outputs: &'a Outputs,
    /// What is done to them.
    pub change: Change<'a>,
}

/// The file in `directory` that a source is written to.
pub fn target(source: &Path, directory: &Path) -> PathBuf {
    directory.join(inside(source))
}

/// Refuses what cannot be written, before anything is read.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a mark in a format that has no place for one.
pub fn check(sources: &[Source], marks: bool) -> Result<()> {
    let mut known = sources.iter().filter(|source| !source.is_stream());
    let unsuitable = known.find(|source| match source.format {
        Format::FormFeed | Format::WholeFile | Format::Html | Format::Arc => marks,
        Format::Jsonl | Format::Warc | Format::Parquet => false,
    });
    let Some(source) = unsuitable else {
        return Ok(());
    };
    let message = format!(
        "{} has no place for a mark (choose --write kept or ids)",
        source.format.name()
    );
    Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
}

impl Dump<'_> {
    /// Writes a file for each source into `directory`, under the source's own name.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a chunk is not what it was; those of reading and writing.
    pub fn write(&self, units: &[Unit], pipeline: &Pipeline<'_>, directory: &Path) -> Result<()> {
        let units = &self.unwritten(units, directory, pipeline.progress);
        let mut open: Vec<Option<(u32, AtomicFile)>> = units.iter().map(|_| None).collect();
        let start = || Parser::new(self.reading);
        let work = |parser: &mut Parser, chunk: &Chunk| self.changed_chunk(parser, chunk);
        pipeline.run(units, start, work, |unit, event| match event {
            Event::Chunk { source, result, .. } => {
                if open[unit]
                    .as_ref()
                    .is_none_or(|(current, _)| *current != source)
                {
                    finish(open[unit].take())?;
                    let target = self.target(source, directory)?;
                    open[unit] = Some((source, self.outputs.create(&target)?));
                }
                match &mut open[unit] {
                    Some((_, file)) => file.write_all(&result).map_err(|cause| file.error(cause)),
                    None => Ok(()),
                }
            }
            Event::End => finish(open[unit].take()),
        })?;
        #[cfg(feature = "parquet")]
        self.write_tables(pipeline.progress, directory)?;
        Ok(())
    }

    /// The units without the sources that are tables, and without those whose file an interrupted
    /// run completed.
    fn unwritten(&self, units: &[Unit], directory: &Path, progress: &Progress) -> Vec<Unit> {
        let sources = self.inputs.sources;
        let is_left_out = |number: &u32| {
            sources.get(*number as usize).is_some_and(|source| {
                source.format == Format::Parquet || self.is_written(source, directory, progress)
            })
        };
        let mut rest = Vec::new();
        for unit in units {
            let mut begin = unit.sources.start;
            for source in unit.sources.clone().filter(is_left_out) {
                rest.push(begin..source);
                begin = source + 1;
            }
            rest.push(begin..unit.sources.end);
        }
        rest.retain(|sources| !sources.is_empty());
        let unit = |sources| Unit {
            sources,
            begin: Default::default(),
        };
        rest.into_iter().map(unit).collect()
    }

    /// Whether the file of a source is complete; then its bytes are done.
    pub(super) fn is_written(
        &self,
        source: &Source,
        directory: &Path,
        progress: &Progress,
    ) -> bool {
        let is_written = self.outputs.is_written(&target(&source.path, directory));
        if is_written {
            progress.advance(source.bytes.unwrap_or_default());
        }
        is_written
    }

    /// The file of a source, in directories that exist.
    pub(super) fn target(&self, source: u32, directory: &Path) -> Result<PathBuf> {
        let source = source_of(self.inputs.sources, source)?;
        let target = target(&source.path, directory);
        let parent = target.parent().unwrap_or(directory);
        create_all(parent)?;
        Ok(target)
    }

    fn changed_chunk(&self, parser: &mut Parser, chunk: &Chunk) -> Result<Vec<u8>> {
        let source = source_of(self.inputs.sources, chunk.source)?;
        let (first, _) = self
            .numbering
            .first_of(chunk)
            .ok_or_else(|| changed(source))?;
        let bytes = chunk.bytes();
        let (mut out, mut copied) = (Vec::with_capacity(bytes.len()), 0);
        let mut failure = None;
        let goes = |ordinal| self.dropped.contains(first.saturating_add(ordinal));
        parser.for_each(source.format, chunk, &goes, &mut |ordinal, parsed| {
            let place = match &parsed {
                Parsed::Document(document) => document.place,
                Parsed::Skipped(skip) => skip.place,
                Parsed::Unwanted => return,
            };
            let Some(range) = chunk.range(&place) else {
                return;
            };
            out.extend_from_slice(&bytes[copied..range.start.max(copied)]);
            copied = range.end.max(copied);
            if let (Change::Mark(kept), Parsed::Document(_)) = (self.change, &parsed) {
                let raw = &bytes[range];
                match self.kept_id(kept, first + ordinal) {
                    Ok(Some(id)) => mark(source.format, raw, &id, &mut out),
                    Ok(None) => out.extend_from_slice(raw),
                    Err(error) => failure = Some(error),
                }
            }
        });
        out.extend_from_slice(&bytes[copied..]);
        match failure {
            Some(error) => Err(error),
            None => compress(source, out),
        }
    }

    pub(super) fn kept_id(&self, kept: &[(u32, u32)], document: u32) -> Result<Option<Vec<u8>>> {
        let Ok(place) = kept.binary_search_by_key(&document, |&(document, _)| document) else {
            return Ok(None);
        };
        let kept = kept[place].1;
        if let Some(id) = self.known.map_or(Ok(None), |known| known.get(kept))? {
            return Ok(Some(id));
        }
        let row = self.gathered.rows.get(kept.into())?;
        Ok(Some(self.gathered.label(&row)?.id))
    }
}

fn finish(file: Option<(u32, AtomicFile)>) -> Result<()> {
    file.map_or(Ok(()), |(_, file)| file.publish())
}

/// A relative path without steps upwards, for a path of any kind.
fn inside(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return "stdin".into();
    }
    let names = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    names.collect()
}

/// Appends `raw` with a mark that says which document it repeats.
fn mark(format: Format, raw: &[u8], kept: &[u8], out: &mut Vec<u8>) {
    match format {
        Format::Jsonl => {
            let end = raw
                .iter()
                .rposition(|&byte| byte == b'}')
                .unwrap_or(raw.len());
            let is_empty = raw[..end].trim_ascii_end().ends_with(b"{");
            out.extend_from_slice(&raw[..end]);
            out.extend_from_slice(if is_empty {
                b"\"duplicate_of\":"
            } else {
                b",\"duplicate_of\":"
            });
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut *out, &String::from_utf8_lossy(kept));
            out.extend_from_slice(&raw[end..]);
        }
        Format::Warc => {
            let line = raw
                .iter()
                .position(|&byte| byte == b'\n')
                .map_or(0, |end| end + 1);
            out.extend_from_slice(&raw[..line]);
            let header = kept.iter().copied().filter(|byte| !byte.is_ascii_control());
            out.extend_from_slice(b"WARC-Simtool-Duplicate-Of: ");
            out.extend(header);
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(&raw[line..]);
        }
        _ => out.extend_from_slice(raw),
    }
}

/// Compresses as the source is compressed: records of web archives each for themselves.
fn compress(source: &Source, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if source.compression == Compression::None || bytes.is_empty() {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let length = match source.format {
            Format::Warc => record_length(rest),
            _ => rest.len(),
        };
        let (part, behind) = rest.split_at(length);
        rest = behind;
        compress_part(source.compression, part, &mut out).map_err(|cause| {
            Error::new(ErrorKind::Write, "cannot be compressed")
                .in_file(&source.path)
                .caused_by(cause)
        })?;
    }
    Ok(out)
}

/// The length of the first record, or of everything if there is no whole one.
fn record_length(bytes: &[u8]) -> usize {
    match warc::next_record(bytes, true) {
        Next::Record(record) if !record.raw.is_empty() => {
            let behind = record.raw.as_ptr() as usize - bytes.as_ptr() as usize;
            (behind + record.raw.len()).min(bytes.len())
        }
        _ => bytes.len(),
    }
}

fn compress_part(compression: Compression, part: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
    match compression {
        Compression::None => out.extend_from_slice(part),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL));
            encoder.write_all(part)?;
            encoder.finish()?;
        }
        Compression::Zstd => out.extend_from_slice(&zstd::bulk::compress(part, ZSTD_LEVEL)?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (path, target) in [
            ("a/b.jsonl", "a/b.jsonl"),
            ("/data/../x.gz", "data/x.gz"),
            ("../../up", "up"),
            ("-", "stdin"),
        ] {
            assert_eq!(inside(Path::new(path)), Path::new(target));
        }
    }

    #[test]
    fn marks_are_valid() {
        for (raw, marked) in [
            (
                &b"{\"a\":1}\n"[..],
                &b"{\"a\":1,\"duplicate_of\":\"x\\\"y\"}\n"[..],
            ),
            (b"{ }\r\n", b"{ \"duplicate_of\":\"x\\\"y\"}\r\n"),
        ] {
            let mut out = Vec::new();
            mark(Format::Jsonl, raw, b"x\"y", &mut out);
            assert_eq!(out, marked);
            let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value["duplicate_of"], "x\"y");
        }
        let mut out = Vec::new();
        mark(Format::Warc, b"WARC/1.0\r\nA: b\r\n\r\n", b"id\n", &mut out);
        assert_eq!(
            out,
            b"WARC/1.0\r\nWARC-Simtool-Duplicate-Of: id\r\nA: b\r\n\r\n"
        );
    }
}
