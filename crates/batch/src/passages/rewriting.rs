//! The inputs with passages cut or masked, or without the documents that the action drops.

use std::ops::Range;

use super::action::Action;
use super::decided::{Decided, misplaced};
use super::documents::PassageTable;
use super::ranges::RangesOfDocuments;
use super::search::Search;
use crate::table::numbering::Numbering;
use crate::table::stamp::changed;
use crate::workdir::OutputGroup;
use crate::write::related::RelatedCounts;
use crate::write::rewritten::{self, Changes, Content, Replaced, RewrittenFiles};
use crate::{Error, ErrorKind, Result};
use simtool_core::text::units::{cut, mask};
use simtool_corpus::json_text::with_text;
use simtool_corpus::{Chunk, Document, Format, Source, form_feed};
use simtool_engine::documents::DocumentReader;
use simtool_engine::pipeline::{Pipeline, Unit};
use simtool_files::RecordCursor;

/// Refuses inputs in formats into which changed texts cannot be written back.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the file.
pub fn check_formats(inputs: &[Source]) -> Result<()> {
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

/// A text with the ranges `removed` cut or masked.
///
/// # Errors
/// [`ErrorKind::Changed`] if it does not have them.
pub fn changed_text<S: Search>(
    search: &S,
    source: &Source,
    text: &[u8],
    removed: &[Range<usize>],
) -> Result<Vec<u8>> {
    if removed.last().is_some_and(|range| range.end > text.len()) {
        return Err(misplaced(&source.path));
    }
    Ok(match search.common().action {
        Action::Cut => cut(text, removed, search.removes_blank_lines()),
        Action::Mask => mask(text, removed),
        Action::Mark | Action::DropDocument(_) => text.to_vec(),
    })
}

/// Everything that is needed to write the inputs again.
pub struct Rewriting<'a, S> {
    /// The search.
    pub search: &'a S,
    /// The files.
    pub files: RewrittenFiles<'a>,
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// All documents.
    pub table: &'a PassageTable,
    /// The decisions.
    pub decided: &'a Decided,
}

impl<S: Search> Rewriting<'_, S> {
    /// Writes a file for each source of the input that has none yet and is no table; returns the
    /// sources that are complete.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; those of reading and writing.
    pub fn write(
        &self,
        units: &[Unit],
        pipeline: &Pipeline<'_>,
        group: &mut OutputGroup<'_>,
    ) -> Result<rewritten::Finished> {
        self.files.write(units, pipeline, self, group)
    }

    /// Whether a record does not stay: the action drops it, or it could not be read and the
    /// settings drop such records.
    pub(super) fn goes(&self, number: u32, is_skipped: bool) -> bool {
        self.decided.dropped.contains(number) || (is_skipped && self.files.settings.drops_skipped())
    }

    /// Whether a document gets another text, or none.
    fn is_changed(&self, number: u32, has_ranges: bool) -> bool {
        self.goes(number, false) || (has_ranges && self.search.common().action.changes_texts())
    }

    /// The record of a document with the ranges `removed` cut or masked.
    fn with_changed_text(
        &self,
        source: &Source,
        document: &Document<'_>,
        removed: &[Range<usize>],
    ) -> Result<Vec<u8>> {
        let misplaced = || misplaced(&source.path);
        let text = changed_text(self.search, source, document.text, removed)?;
        let raw = document.raw;
        match source.format {
            Format::Jsonl => with_text(raw, &self.search.common().reading.text_field, &text)
                .ok_or_else(misplaced),
            Format::FormFeed => {
                let page = form_feed::pages(raw).next().ok_or_else(misplaced)?;
                // The text borrows from the record.
                let start = page.text.as_ptr() as usize - raw.as_ptr() as usize;
                let (head, tail) = (&raw[..start], &raw[start + page.text.len()..]);
                Ok([head, &without_form_feeds(text), tail].concat())
            }
            _ => Ok(text),
        }
    }
}

/// The text with spaces for form feeds, which would end a page. A page has none, but HTML that it
/// holds may name one.
fn without_form_feeds(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        *byte = if *byte == form_feed::FORM_FEED {
            b' '
        } else {
            *byte
        };
    }
    text
}

impl<S: Search> Changes for Rewriting<'_, S> {
    fn content(&self, number: u32, source: &Source) -> Result<Content> {
        let numbers = self.numbering.of_source(number);
        let had_none = numbers.is_empty();
        let mut rows = RecordCursor::new(&self.table.rows);
        for number in numbers {
            if !self.goes(number, rows.get(number.into())?.is_skipped()) {
                return Ok(Content::Documents);
            }
        }
        Ok(Content::new(had_none, source))
    }

    fn is_unchanged(&self, number: u32, _: &Source) -> bool {
        let numbers = self.numbering.of_source(number);
        let Ok(ranges) = self.decided.has_any_of(numbers.clone()) else {
            return false;
        };
        let count = numbers.end - numbers.start;
        let is_changed = self.decided.dropped.any_of(numbers.start, count)
            || (ranges && self.search.common().action.changes_texts())
            || self.files.settings.drops_skipped();
        !is_changed
    }

    fn of_chunk(&self, source: &Source, chunk: &Chunk) -> Result<(Vec<Replaced>, RelatedCounts)> {
        let first = self.numbering.first_of(chunk);
        let (first, count) = first.ok_or_else(|| changed(source))?;
        let ranges = RangesOfDocuments::read(&self.decided.ranges, first..first + count)?;
        let number_of = |ordinal: u32| first.saturating_add(ordinal);
        let mut rows = RecordCursor::new(&self.table.rows);
        let mut changes: Vec<Replaced> = Vec::new();
        // Dropped records need no decoding.
        for number in first..first + count {
            let row = rows.get(number.into())?;
            if self.goes(number, row.is_skipped())
                && let Some(range) = chunk.range(&row.place)
            {
                changes.push((range, None));
            }
        }
        let is_wanted = |ordinal| {
            let number = number_of(ordinal);
            !self.goes(number, false) && self.is_changed(number, !ranges.of(number).is_empty())
        };
        let mut reader = DocumentReader::new(self.files.sources, self.search.common().reading);
        let documents = reader.documents(chunk)?;
        documents.for_each_wanted(is_wanted, |ordinal, document| {
            if let Ok(document) = document
                && let Some(range) = chunk.range(&document.place)
            {
                let removed: Vec<_> = ranges.bytes_of(number_of(ordinal)).collect();
                let new = self.with_changed_text(source, &document, &removed)?;
                changes.push((range, Some(new)));
            }
            Ok(())
        })?;
        changes.sort_by_key(|(range, _)| range.start);
        Ok((changes, RelatedCounts::default()))
    }

    fn end(&self, _: u32, _: RelatedCounts) -> Result<()> {
        Ok(())
    }
}
