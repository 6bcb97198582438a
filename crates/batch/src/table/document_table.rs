//! The documents of all inputs, as the first reading stored them.

use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Format, Place, Source};
use simtool_engine::Progress;
use simtool_engine::doubts::Doubts;
use simtool_files::{RecordCursor, RecordFile};

use crate::scope;
use crate::table::row::{Flags, Label, Row, TableRow};
use crate::table::rows::{RowCursor, RowFile};
use crate::table::segment::ChunkEntry;
use crate::table::segment_store::{SketchRun, StoredSegments};

/// The documents of all inputs, by number.
#[derive(Debug)]
pub struct DocumentTable<R = Row> {
    /// Their rows.
    pub rows: RowFile<R>,
    /// The bytes with their sketches and labels.
    pub bytes: RecordFile<u8>,
    /// Where their sketches are, by the number of the first document.
    pub sketches: Vec<SketchRun>,
    /// Their further numbers: see [`Columns`](crate::table::columns::Columns).
    pub columns: RecordFile<u64>,
    /// The chunks of all inputs, in order.
    pub chunks: Vec<ChunkEntry>,
}

/// Reads rows and labels.
pub struct DocumentCursor<'a, R = Row> {
    rows: RowCursor<'a, R>,
    labels: RecordCursor<'a, u8>,
}

/// How many documents there are, of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentCounts {
    /// Documents of the input, skipped ones too, those of the reference not.
    pub seen: u64,
    /// Documents of the reference that could be read.
    pub references: u64,
    /// Documents of the reference that could not be read.
    pub skipped_references: u64,
    /// Of these, those without text.
    pub references_without_text: u64,
    /// Documents of the input that could not be read.
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
    /// All documents, skipped ones too.
    pub seen: u64,
    /// Documents that were dropped.
    pub dropped: u64,
    /// Documents that could not be read.
    pub skipped: u64,
}

impl<R: TableRow> DocumentTable<R> {
    /// The documents of all segments.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn of(segments: &StoredSegments<'_, R>) -> Result<DocumentTable<R>> {
        Ok(DocumentTable {
            rows: segments.rows(),
            bytes: segments.bytes(),
            sketches: segments.sketches(),
            columns: segments.columns(),
            chunks: segments.chunks()?,
        })
    }

    /// The label of a row.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none where the row says.
    pub fn label(&self, row: &R) -> Result<Label> {
        self.cursor().label(row)
    }

    /// The label of a row; `None` if it has more than `most` bytes. Then at most its first 256
    /// bytes are read.
    ///
    /// # Errors
    /// Errors of [`label`](Self::label).
    pub fn label_within(&self, row: &R, most: usize) -> Result<Option<Label>> {
        self.cursor().label_within(row, most)
    }

    /// A reader of rows and labels, fast if the numbers of the documents mostly ascend.
    pub fn cursor(&self) -> DocumentCursor<'_, R> {
        DocumentCursor {
            rows: RowCursor::new(&self.rows),
            labels: RecordCursor::new(&self.bytes),
        }
    }

    /// Calls `visit` with the number and the row of each of some documents, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; those of `visit`.
    pub fn for_each_row(
        &self,
        numbers: std::ops::Range<u32>,
        mut visit: impl FnMut(u32, &R) -> Result<()>,
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
}

impl DocumentTable {
    /// Counts the documents of each kind, those of each source, and those of input and reference
    /// whose characters may be wrong; reads all rows. Of a damaged part of a table, each lost row
    /// counts. None is dropped yet.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Interrupted`].
    pub fn counts(
        &self,
        sources: &[Source],
        progress: &Progress,
    ) -> Result<(DocumentCounts, Vec<SourceCounts>, Doubts)> {
        let (mut counts, mut doubts) = (DocumentCounts::default(), Doubts::default());
        let mut each = vec![SourceCounts::default(); sources.len()];
        self.rows.for_each_block(8192, |_, rows| {
            progress.check()?;
            for row in rows {
                doubts.note(row.doubt(), row.place);
                let documents = match row.flags.has(Flags::SKIPPED) {
                    true => lost_documents(&row.place, sources),
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

impl<R: TableRow> DocumentCursor<'_, R> {
    /// The row of a document.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none.
    pub fn row(&mut self, number: u32) -> Result<R> {
        self.rows.get(number.into())
    }

    /// The label of a row.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none where the row says.
    pub fn label(&mut self, row: &R) -> Result<Label> {
        let label = self.label_within(row, usize::MAX)?;
        label.ok_or_else(|| Error::new(ErrorKind::Content, "a label is too long"))
    }

    /// [`DocumentTable::label_within`].
    ///
    /// # Errors
    /// Errors of [`DocumentTable::label`].
    pub fn label_within(&mut self, row: &R, most: usize) -> Result<Option<Label>> {
        // Most labels fit into this length; longer ones are read again.
        let mut bytes = self.labels.read(row.label(), 256)?;
        let missing = || Error::new(ErrorKind::Content, "a label is cut: start with --restart");
        let length = Label::length(bytes).ok_or_else(missing)?;
        if length > most {
            return Ok(None);
        }
        if length > bytes.len() {
            bytes = self.labels.read(row.label(), length)?;
        }
        Label::read(bytes).ok_or_else(missing).map(Some)
    }
}

/// How many documents a skipped row represents. In a table it may represent many lost rows, as the
/// table's footer counts them.
pub fn lost_documents(place: &Place, sources: &[Source]) -> u64 {
    let source = sources.get(place.source as usize);
    match source.is_some_and(|source| source.format == Format::Parquet) {
        // A footer may claim any number.
        true => place.length.clamp(1, u32::MAX.into()),
        false => 1,
    }
}
