//! Everything the first reading found, in six files.

use serde_json::{Map, Value};

use crate::corpus::{Format, Source};
use crate::engine::Progress;
use crate::engine::doubts::Doubts;
use crate::io::{RecordCursor, RecordFile};
use crate::{Error, ErrorKind, Result};

use super::row::{Flags, Label, Row};
use super::scope;
use super::segment::{ChunkEntry, Segment};
use super::work::{Work, WorkFile, describe};

/// Written last: the first reading is complete, and the segments are no longer needed.
const MARKER: &str = "gathered";
const FILES: [&str; 6] = [
    "rows",
    "sketches",
    "sketch-ends",
    "labels",
    "chunks",
    "columns",
];

/// The documents of all inputs, by number.
#[derive(Debug)]
pub struct Gathered {
    /// Their rows.
    pub rows: RecordFile<Row>,
    /// Their sketches, end to end.
    pub sketches: RecordFile<u8>,
    /// Where each sketch ends, if they are not all of one length.
    pub sketch_ends: RecordFile<u64>,
    labels: RecordFile<u8>,
    /// Their further numbers: see [`Columns`](super::columns::Columns).
    pub columns: RecordFile<u64>,
    /// The chunks of all inputs, in order.
    pub chunks: Vec<ChunkEntry>,
}

/// Reads rows and labels.
pub struct DocumentCursor<'a> {
    rows: RecordCursor<'a, Row>,
    labels: RecordCursor<'a, u8>,
}

/// How many documents there are, of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents of the input, skipped ones too, those of the reference not.
    pub seen: u64,
    /// Documents of the reference that could be read.
    pub references: u64,
    /// Documents of the reference that could not be read.
    pub skipped_references: u64,
    /// Of these, those without text.
    pub references_without_text: u64,
    /// Those of the input that could not be read.
    pub skipped: u64,
    /// Without a word; if the method is `exact` or `normalized`, without text.
    pub empty: u64,
    /// Too short for the method, or without features.
    pub short: u64,
    /// With bytes that do not fit their character set.
    pub broken_text: u64,
    /// Naming a character set that is not known.
    pub unknown_charset: u64,
    /// Bytes of text of the documents of the input.
    pub text_bytes: u64,
    /// Skipped because they have no text.
    pub without_text: u64,
    /// Of those that were read: in formats with named fields.
    pub with_fields: u64,
    /// Of these: without the field of the id, of the URL and of the date.
    pub without_field: [u64; 3],
    /// Of those that were read: without a known group, if the scope has groups.
    pub without_group: u64,
    /// Of those that were read: without an absolute URL with a host, if URLs are compared.
    pub without_page: u64,
    /// Of those that have one: without a date that can be read.
    pub undated: u64,
}

/// The documents of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceCounts {
    /// All of them, skipped ones too.
    pub seen: u64,
    /// Those that were dropped.
    pub dropped: u64,
    /// Those that could not be read.
    pub skipped: u64,
}

impl Gathered {
    /// Joins the segments of `units` units, unless that was done before; removes the segments.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a damaged segment or file; those of reading and writing.
    pub fn gather(work: &Work, units: usize, progress: &Progress) -> Result<Gathered> {
        match work.published(MARKER)? {
            Some(marker) => {
                let described = marker.get("files").unwrap_or(&Value::Null);
                work.verify(&FILES, described)?;
            }
            None => gather_units(work, units, progress)?,
        }
        work.remove_segments()?;
        let mut chunks = Vec::new();
        let stored = RecordFile::<ChunkEntry>::open(&work.path("chunks"))?;
        stored.read(0, usize::MAX, &mut chunks)?;
        Ok(Gathered {
            rows: RecordFile::open(&work.path("rows"))?,
            sketches: RecordFile::open(&work.path("sketches"))?,
            sketch_ends: RecordFile::open(&work.path("sketch-ends"))?,
            labels: RecordFile::open(&work.path("labels"))?,
            columns: RecordFile::open(&work.path("columns"))?,
            chunks,
        })
    }

    /// Whether the first reading is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a damaged marker; [`ErrorKind::Write`] if it cannot be read.
    pub fn is_complete(work: &Work) -> Result<bool> {
        Ok(work.published(MARKER)?.is_some())
    }

    /// The label of a row.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none where the row says.
    pub fn label(&self, row: &Row) -> Result<Label> {
        let label = self.label_within(row, usize::MAX)?;
        label.ok_or_else(|| Error::new(ErrorKind::Content, "a label is too long"))
    }

    /// The label of a row; `None` if it has more than `most` bytes. Then at most its first 256
    /// bytes are read.
    ///
    /// # Errors
    /// Those of [`label`](Self::label).
    pub fn label_within(&self, row: &Row, most: usize) -> Result<Option<Label>> {
        self.cursor().label_within(row, most)
    }

    /// A reader of rows and labels, fast if the numbers of the documents mostly ascend.
    pub fn cursor(&self) -> DocumentCursor<'_> {
        DocumentCursor {
            rows: RecordCursor::new(&self.rows),
            labels: RecordCursor::new(&self.labels),
        }
    }

    /// Calls `visit` with the number and the row of each of some documents, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; those of `visit`.
    pub fn for_each_row(
        &self,
        numbers: std::ops::Range<u32>,
        mut visit: impl FnMut(u32, &Row) -> Result<()>,
    ) -> Result<()> {
        const BLOCK: usize = 8192;
        let mut rows = Vec::new();
        for first in numbers.clone().step_by(BLOCK) {
            let count = BLOCK.min((numbers.end - first) as usize);
            self.rows.read(first.into(), count, &mut rows)?;
            for (number, row) in (first..).zip(&rows) {
                visit(number, row)?;
            }
        }
        Ok(())
    }

    /// Counts the documents of each kind, those of each source, and those of input and reference
    /// whose characters may be wrong; reads all rows. Of a damaged part of a table, each lost row
    /// counts. None is dropped yet.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn counts(&self, sources: &[Source]) -> Result<(Counts, Vec<SourceCounts>, Doubts)> {
        let (mut counts, mut doubts) = (Counts::default(), Doubts::default());
        let mut each = vec![SourceCounts::default(); sources.len()];
        self.rows.for_each_block(8192, |_, rows| {
            for row in rows {
                doubts.note(row.doubt(), row.place);
                let documents = match row.flags.has(Flags::SKIPPED) {
                    true => lost_documents(row, sources),
                    false => 1,
                };
                let of = |flag| u64::from(row.flags.has(flag));
                if let Some(source) = each.get_mut(row.place.source as usize) {
                    source.seen += documents;
                    source.skipped += of(Flags::SKIPPED) * documents;
                }
                if row.flags.has(Flags::REFERENCE) {
                    match row.flags.has(Flags::SKIPPED) {
                        true => counts.skipped_references += documents,
                        false => counts.references += 1,
                    }
                    counts.references_without_text += of(Flags::NO_TEXT);
                    continue;
                }
                counts.seen += documents;
                counts.skipped += of(Flags::SKIPPED) * documents;
                counts.empty += of(Flags::EMPTY);
                counts.short += of(Flags::SHORT);
                counts.broken_text += of(Flags::BROKEN_TEXT);
                counts.unknown_charset += of(Flags::UNKNOWN_CHARSET);
                counts.text_bytes += row.text_bytes;
                counts.without_text += of(Flags::NO_TEXT);
                if !row.flags.has(Flags::SKIPPED) {
                    let source = sources.get(row.place.source as usize);
                    let has_fields = source.is_some_and(|source| source.format.has_fields());
                    if has_fields {
                        counts.with_fields += 1;
                        let flags = [Flags::NAMED_BY_PLACE, Flags::NO_URL, Flags::NO_DATE];
                        let without = counts.without_field.iter_mut().zip(flags);
                        without.for_each(|(count, flag)| *count += of(flag));
                    }
                    counts.without_group += u64::from(row.group == scope::UNKNOWN);
                    counts.without_page += of(Flags::NO_PAGE);
                    counts.undated += of(Flags::UNDATED);
                }
            }
            Ok(())
        })?;
        Ok((counts, each, doubts))
    }
}

impl DocumentCursor<'_> {
    /// The row of a document.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none.
    pub fn row(&mut self, number: u32) -> Result<Row> {
        self.rows.get(number.into())
    }

    /// [`Gathered::label_within`].
    ///
    /// # Errors
    /// Those of [`Gathered::label`].
    pub fn label_within(&mut self, row: &Row, most: usize) -> Result<Option<Label>> {
        // Most labels fit into this length; longer ones are read again.
        let mut bytes = self.labels.read(row.label, 256)?;
        let missing = || Error::new(ErrorKind::Content, "a label is cut: start with --restart");
        let head = *bytes.first_chunk().ok_or_else(missing)?;
        let length = Label::length(head);
        if length > most {
            return Ok(None);
        }
        if length > bytes.len() {
            bytes = self.labels.read(row.label, length)?;
        }
        Label::read(bytes).ok_or_else(missing).map(Some)
    }
}

/// How many documents a skipped row represents. In a table it may represent many lost rows, as the
/// table's footer counts them.
pub fn lost_documents(row: &Row, sources: &[Source]) -> u64 {
    let source = sources.get(row.place.source as usize);
    match source.is_some_and(|source| source.format == Format::Parquet) {
        // A footer may claim any number.
        true => row.place.length.clamp(1, u32::MAX.into()),
        false => 1,
    }
}

/// Bytes that were gathered so far.
#[derive(Default)]
struct Before {
    labels: u64,
    sketches: u64,
}

fn gather_units(work: &Work, units: usize, progress: &Progress) -> Result<()> {
    let files = FILES.iter().map(|name| work.create_file(name));
    let mut files: Vec<WorkFile> = files.collect::<Result<_>>()?;
    let mut before = Before::default();
    for unit in 0..units {
        progress.check()?;
        gather_unit(work, unit, &mut before, &mut files)?;
    }
    // Waits for the disk.
    let finished = files.into_iter().map(|file| {
        progress.check()?;
        file.publish()
    });
    let finished: Vec<_> = finished.collect::<Result<_>>()?;
    let mut marker = Map::new();
    marker.insert("files".into(), describe(&finished).into());
    work.publish(MARKER, marker)
}

fn gather_unit(
    work: &Work,
    unit: usize,
    before: &mut Before,
    files: &mut [WorkFile],
) -> Result<()> {
    for number in 0.. {
        let path = work.segment(unit, number);
        let (header, mut segment) = Segment::read(&path)?;
        for row in &mut segment.rows {
            row.label += before.labels;
        }
        before.labels += segment.labels.len() as u64;
        let ends = segment.sketches.borders.iter().skip(1);
        let ends: Vec<u64> = ends.map(|end| before.sketches + end).collect();
        before.sketches += segment.sketches.bytes.len() as u64;
        let parts: [&[u8]; 6] = [
            bytemuck::cast_slice(&segment.rows),
            &segment.sketches.bytes,
            bytemuck::cast_slice(&ends),
            &segment.labels,
            bytemuck::cast_slice(&segment.chunks),
            bytemuck::cast_slice(&segment.columns),
        ];
        for (file, bytes) in files.iter_mut().zip(parts) {
            file.append(bytes)?;
        }
        if header.complete == 1 {
            break;
        }
    }
    Ok(())
}
