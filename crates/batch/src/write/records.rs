//! The changed records of a chunk: those that are not written, that get a mark, or a new text.

use std::ops::Range;

use super::annotation;
use super::directory::Directory;
use super::edits::{Edits, Marks, SomeTexts};
use super::related::{RelatedCounts, RelatedIds};
use crate::Result;
use crate::table::row::TableRow;
use crate::table::stamp::changed;
use simtool_corpus::json_text::with_text;
use simtool_corpus::{Chunk, Document, Format, Source, form_feed};
use simtool_engine::documents::DocumentReader;

/// The range of a record in its chunk, and its replacement, if it has one.
pub type Replaced = (Range<usize>, Option<Vec<u8>>);

/// The changed records of a chunk, in order, and how many related records are among them.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the chunk is not as it was; those of reading.
pub fn changes<R: TableRow>(
    directory: &Directory<'_, R>,
    source: &Source,
    chunk: &Chunk,
) -> Result<(Vec<Replaced>, RelatedCounts)> {
    let documents = &directory.documents;
    let numbers = documents.numbering.numbers_of(chunk, source)?;
    let first = numbers.start;
    let mut changes = Vec::new();
    documents
        .table
        .for_each_row(numbers.clone(), |number, row| {
            // Chunks do not contain records that the reader skipped.
            if directory.dropped.contains(number)
                && let Some(range) = chunk.range(&row.place())
            {
                changes.push((range, None));
            }
            Ok(())
        })?;
    match directory.edits {
        Edits::None => {}
        Edits::Marks(marks) => mark(directory, marks, source, chunk, numbers, &mut changes)?,
        Edits::Texts(texts) => {
            let texts = texts.of(numbers)?;
            replace_texts(directory, &*texts, source, chunk, first, &mut changes)?;
        }
    }
    let mut counts = RelatedCounts::default();
    if source.format == Format::Warc && documents.run.written.drops_related {
        let numbers = documents.numbering.of_source(chunk.source);
        let read = || RelatedIds::read(documents.table, numbers, directory.dropped);
        let ids = directory.related.of(chunk.source, read)?;
        let related;
        (related, counts) = ids.find(chunk.bytes());
        changes.extend(related.into_iter().map(|range| (range, None)));
    }
    changes.sort_by_key(|(range, _)| range.start);
    Ok((changes, counts))
}

/// Adds the records that get a mark, or lose an earlier one.
fn mark<R: TableRow>(
    directory: &Directory<'_, R>,
    marks: &dyn Marks,
    source: &Source,
    chunk: &Chunk,
    numbers: Range<u32>,
    changes: &mut Vec<Replaced>,
) -> Result<()> {
    let bytes = chunk.bytes();
    // Records without a mark are searched for earlier ones only if the chunk contains the name of
    // one.
    let has_marks = annotation::may_have_marks(source.format, bytes);
    let mut marks = marks.of(numbers.clone())?.into_iter();
    directory
        .documents
        .table
        .for_each_row(numbers, |number, row| {
            let mark = marks.next().flatten();
            let is_written = !row.is_skipped() && !directory.dropped.contains(number);
            if is_written
                && (mark.is_some() || has_marks)
                && let Some(range) = chunk.range(&row.place())
            {
                let new = annotation::marked(source.format, &bytes[range.clone()], mark.as_ref());
                changes.extend(new.map(|new| (range, Some(new))));
            }
            Ok(())
        })
}

/// Adds the records whose documents get a new text.
fn replace_texts<R: TableRow>(
    directory: &Directory<'_, R>,
    texts: &dyn SomeTexts,
    source: &Source,
    chunk: &Chunk,
    first: u32,
    changes: &mut Vec<Replaced>,
) -> Result<()> {
    let run = &directory.documents.run;
    let number_of = |ordinal: u32| first.saturating_add(ordinal);
    let is_wanted = |ordinal| {
        let number = number_of(ordinal);
        !directory.dropped.contains(number) && texts.has(number)
    };
    let mut reader = DocumentReader::new(run.sources, run.batch.reading);
    let documents = reader.documents(chunk)?;
    documents.for_each_wanted(is_wanted, |ordinal, document| {
        if let Ok(document) = document
            && let Some(range) = chunk.range(&document.place)
        {
            let text = texts.of(number_of(ordinal), source, document.text)?;
            let new = with_new_text(source, &run.batch.reading.text_field, &document, text)?;
            changes.push((range, Some(new)));
        }
        Ok(())
    })
}

/// The record of a document with another text.
fn with_new_text(
    source: &Source,
    text_field: &str,
    document: &Document<'_>,
    text: Vec<u8>,
) -> Result<Vec<u8>> {
    let raw = document.raw;
    match source.format {
        Format::Jsonl => with_text(raw, text_field, &text).ok_or_else(|| changed(source)),
        Format::FormFeed => {
            let page = form_feed::pages(raw)
                .next()
                .ok_or_else(|| changed(source))?;
            // The text borrows from the record.
            let start = page.text.as_ptr() as usize - raw.as_ptr() as usize;
            let (head, tail) = (&raw[..start], &raw[start + page.text.len()..]);
            Ok([head, &without_form_feeds(text), tail].concat())
        }
        _ => Ok(text),
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
