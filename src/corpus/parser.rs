//! What is in a chunk.

use super::byte_reader::too_large;
use super::chunk::Chunk;
use super::document::{Document, Doubt, FieldValue, Parsed, Place, Reason, Skip};
use super::form_feed;
use super::json_line::{Fields, Paths, Text, Wrong};
use super::raw_text::{RawText, is_utf8};
use super::reading::Reading;
use super::records;
use super::source::Format;
use super::web::WebText;
use memchr::memchr;
use std::ops::Range;

const ID: usize = 1;
const URL: usize = 2;
const DATE: usize = 3;
const KEEP: usize = 4;

/// Finds the documents of chunks; a worker has its own, with the buffers it decodes into.
///
/// Its buffers grow to the longest document it decodes.
pub struct Parser {
    most: u64,
    lines: Lines,
    web: WebText,
    texts: RawText,
    /// For the columns of tables.
    #[cfg(feature = "parquet")]
    reading: Reading,
}

/// What is visited: documents and skipped ones, with their numbers in the chunk.
type Visit<'v> = dyn FnMut(u32, Parsed<'_>) + 'v;

impl Parser {
    /// A parser for the inputs of a job.
    pub fn new(reading: &Reading) -> Parser {
        let text: &str = &reading.text_field;
        let paths = [
            Some(text),
            Some(&reading.id_field),
            Some(&reading.url_field),
            Some(&reading.date_field),
            reading.keep_field.as_deref(),
        ];
        Parser {
            most: reading.max_document_bytes,
            lines: Lines::new(Paths::new(paths)),
            web: WebText::new(reading.html, reading.max_document_bytes),
            texts: RawText::new(reading.html),
            #[cfg(feature = "parquet")]
            reading: reading.clone(),
        }
    }

    /// Calls `visit` for each document and each skipped one of a chunk, in order, with its number.
    ///
    /// Numbers count documents and skipped ones from 0, those that the reader reported last.
    /// Records that are not meant to be documents (blank lines, pieces without an id, images) have
    /// none; the result is how many there are. Those whose number is not `wanted` are found but
    /// not decoded.
    pub fn for_each(
        &mut self,
        format: Format,
        chunk: &Chunk,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut Visit<'_>,
    ) -> u64 {
        let mut walk = Walk {
            chunk,
            most: self.most,
            wanted,
            visit,
            ordinal: 0,
            others: 0,
        };
        match format {
            Format::FormFeed => pages(&mut self.texts, &mut walk),
            Format::Jsonl => self.lines.read(&mut self.texts, &mut walk),
            Format::WholeFile => whole_file(&mut self.texts, false, &mut walk),
            Format::Html => whole_file(&mut self.texts, true, &mut walk),
            Format::Warc | Format::Arc => records::read(&mut self.web, format, &mut walk),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                super::parquet::documents(&self.reading, &mut self.texts, &mut walk);
            }
            // Its reader cannot be opened.
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {}
        }
        for skip in &chunk.skipped {
            walk.give(Parsed::Skipped(skip.clone()));
        }
        walk.others
    }
}

/// The way through a chunk.
pub(super) struct Walk<'c, 'v, 'w> {
    pub(super) chunk: &'c Chunk,
    pub(super) most: u64,
    wanted: &'w dyn Fn(u32) -> bool,
    visit: &'w mut Visit<'v>,
    ordinal: u32,
    /// Records that are not meant to be documents.
    pub(super) others: u64,
}

impl<'c> Walk<'c, '_, '_> {
    pub(super) fn give(&mut self, parsed: Parsed<'_>) {
        (self.visit)(self.ordinal, parsed);
        self.ordinal += 1;
    }

    /// Whether a record is no larger than a document may be. What is not was perhaps cut off before
    /// anybody could see what it is, so its content decides nothing.
    fn fits(&self, record: &Range<usize>) -> bool {
        record.len() as u64 <= self.most
    }

    /// Whether the next record is to be decoded; it is dealt with otherwise.
    pub(super) fn wants(&mut self, record: &Range<usize>, id: &[u8]) -> bool {
        if !(self.wanted)(self.ordinal) {
            self.give(Parsed::Unwanted);
            return false;
        }
        if !self.fits(record) {
            let detail = too_large(record.len() as u64, self.most);
            self.skip(record, id, Reason::TooLarge, detail);
            return false;
        }
        true
    }

    pub(super) fn skip(
        &mut self,
        record: &Range<usize>,
        id: &[u8],
        reason: Reason,
        detail: String,
    ) {
        let skip = Skip {
            place: self.place(record),
            id: id.to_vec(),
            reason,
            detail,
        };
        self.give(Parsed::Skipped(skip));
    }

    pub(super) fn place(&self, record: &Range<usize>) -> Place {
        self.chunk.place(record.start, record.len())
    }

    /// The records that a separator ends, each with it.
    fn records(&self, separator: u8) -> impl Iterator<Item = Range<usize>> + use<'c> {
        let bytes = self.chunk.bytes();
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let length = memchr(separator, rest).map_or(rest.len(), |at| at + 1);
            let record = start..start + length;
            start = record.end;
            Some(record)
        })
    }
}

/// A document that consists of text and maybe an id.
fn plain<'a>(
    place: Place,
    raw: &'a [u8],
    id: &'a [u8],
    (text, doubt): (&'a [u8], Doubt),
) -> Document<'a> {
    Document {
        place,
        raw,
        id,
        url: &[],
        date: &[],
        keep_field: None,
        text,
        doubt,
    }
}

fn pages(texts: &mut RawText, walk: &mut Walk<'_, '_, '_>) {
    let bytes = walk.chunk.bytes();
    for record in walk.records(b'\x0c') {
        let raw = &bytes[record.clone()];
        let page = form_feed::pages(raw).next();
        if page.is_none() && walk.fits(&record) {
            walk.others += 1;
            continue;
        }
        let id = page.as_ref().map_or(&[][..], |page| page.id);
        if walk.wants(&record, id)
            && let Some(page) = page
        {
            let place = walk.place(&record);
            let text = texts.of_bytes(page.text, false);
            walk.give(Parsed::Document(plain(place, raw, page.id, text)));
        }
    }
}

fn whole_file(texts: &mut RawText, is_html: bool, walk: &mut Walk<'_, '_, '_>) {
    let bytes = walk.chunk.bytes();
    let record = 0..bytes.len();
    if !bytes.is_empty() && walk.wants(&record, &[]) {
        let place = walk.place(&record);
        let text = texts.of_bytes(bytes, is_html);
        walk.give(Parsed::Document(plain(place, bytes, &[], text)));
    }
}

/// Reads JSON lines.
struct Lines {
    paths: Paths,
    text: Vec<u8>,
    /// Id, URL, date and keep field, one behind another.
    labels: Vec<u8>,
}

impl Lines {
    fn new(paths: Paths) -> Lines {
        Lines {
            paths,
            text: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn read(&mut self, texts: &mut RawText, walk: &mut Walk<'_, '_, '_>) {
        let bytes = walk.chunk.bytes();
        for record in walk.records(b'\n') {
            let line = &bytes[record.clone()];
            if line.trim_ascii().is_empty() && walk.fits(&record) {
                walk.others += 1;
                continue;
            }
            if !walk.wants(&record, &[]) {
                continue;
            }
            match self.paths.find(line, &mut self.text) {
                // The bytes that make it no JSON may be no text either.
                Err((_, Wrong::Json(_))) if std::str::from_utf8(line).is_err() => {
                    let mended = String::from_utf8_lossy(line);
                    let found = self.paths.find(mended.as_bytes(), &mut self.text);
                    self.give(texts, walk, &record, found, true);
                }
                found => self.give(texts, walk, &record, found, false),
            }
        }
    }

    fn give(
        &mut self,
        texts: &mut RawText,
        walk: &mut Walk<'_, '_, '_>,
        record: &Range<usize>,
        found: Result<Fields<'_>, (Fields<'_>, Wrong)>,
        is_broken: bool,
    ) {
        self.labels.clear();
        let fields = match &found {
            Ok(fields) | Err((fields, _)) => fields,
        };
        let starts = [ID, URL, DATE, KEEP].map(|field| fields.label(field, &mut self.labels));
        let [id, rest @ ..] = starts;
        let [url, date, keep] = rest;
        let id = &self.labels[id..url];
        let text = match &found {
            Ok(fields) => match fields.text() {
                Some(Text::Borrowed(text)) => text,
                Some(Text::Buffered) | None => &self.text[..],
            },
            Err((_, Wrong::Json(detail))) => {
                return walk.skip(record, id, Reason::BadJson, detail.clone());
            }
            Err((_, Wrong::Text(detail))) => {
                return walk.skip(record, id, Reason::NoText, detail.clone());
            }
        };
        let mended = (!is_utf8(text)).then(|| String::from_utf8_lossy(text));
        let keep_field = match fields.number(KEEP) {
            Some(number) => Some(FieldValue::Number(number)),
            None if fields.is_string(KEEP) => Some(FieldValue::Text(&self.labels[keep..])),
            None => None,
        };
        let document = Document {
            place: walk.place(record),
            raw: &walk.chunk.bytes()[record.clone()],
            id,
            url: &self.labels[url..date],
            date: &self.labels[date..keep],
            keep_field,
            text: texts.of_string(mended.as_ref().map_or(text, |mended| mended.as_bytes())),
            doubt: Doubt::of(false, is_broken || mended.is_some()),
        };
        walk.give(Parsed::Document(document));
    }
}
