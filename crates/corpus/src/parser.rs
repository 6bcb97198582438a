//! The parser, which finds the documents of a chunk.

use super::chunk::Chunk;
use super::document::MAX_FIELDS;
use super::document::{Document, Doubt, FieldValue, FieldValues, Parsed, Place, Reason};
use super::reading::Reading;
use super::source::Format;
use super::visitor::{ChunkVisitor, Visit};
use super::web::WebText;
use crate::text_formats::form_feed;
use crate::text_formats::json_line::{FieldText, JsonFields, LineError, Paths};
use crate::text_formats::raw_text::{RawText, is_utf8};
use crate::text_formats::records;
use std::ops::Range;

const ID: usize = 1;
const URL: usize = 2;
const DATE: usize = 3;
/// The first of the fields that the job requests besides these.
const FURTHER: usize = 4;

/// Finds the documents of chunks. Each worker has its own parser, with buffers for decoding.
///
/// The buffers grow to the size of the longest decoded document.
pub struct Parser {
    most: u64,
    lines: Lines,
    web: WebText,
    texts: RawText,
    /// For the columns of tables and the headers of web archives.
    reading: Reading,
}

impl Parser {
    /// A parser for the inputs of a job.
    pub fn new(reading: &Reading) -> Parser {
        let text: &str = &reading.text_field;
        let paths = [
            Some(text),
            Some(&reading.id_field),
            Some(&reading.url_field),
            Some(&reading.date_field),
        ];
        let further = reading.fields.iter().map(|field| Some(&field[..]));
        Parser {
            most: reading.max_document_bytes,
            lines: Lines::new(
                Paths::new(paths.into_iter().chain(further)).joining_lists(reading.joins_lists),
            ),
            web: WebText::new(reading.html, reading.max_document_bytes),
            texts: RawText::new(reading.html),
            reading: reading.clone(),
        }
    }

    /// Calls `visit` with each document and each skipped document of a chunk, in order, and with its
    /// number in the chunk.
    ///
    /// Numbers start at 0; documents that the reader skipped come last. Records that are not
    /// documents (blank lines, pages without an id, images) have no number; their count is returned.
    /// Documents whose number is not `wanted` are not decoded, but visited as [`Parsed::Unwanted`].
    pub fn for_each(
        &mut self,
        format: Format,
        chunk: &Chunk,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut Visit<'_>,
    ) -> u64 {
        let mut visitor = ChunkVisitor {
            chunk,
            most: self.most,
            wanted,
            visit,
            ordinal: 0,
            others: 0,
        };
        match format {
            Format::FormFeed => pages(&mut self.texts, &mut visitor),
            Format::Jsonl => self.lines.read(&mut self.texts, &mut visitor),
            Format::WholeFile => whole_file(&mut self.texts, false, &mut visitor),
            Format::Html => whole_file(&mut self.texts, true, &mut visitor),
            Format::Warc | Format::Arc => {
                records::read(&mut self.web, format, &self.reading.fields, &mut visitor);
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                super::parquet::documents(&self.reading, &mut self.texts, &mut visitor);
            }
            // No reader can be opened for it.
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => {}
        }
        for skip in &chunk.skipped {
            visitor.emit(Parsed::Skipped(skip.clone()));
        }
        visitor.others
    }
}

/// A document with only a text and perhaps an id.
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
        fields: [None; MAX_FIELDS],
        text,
        doubt,
    }
}

fn pages(texts: &mut RawText, visitor: &mut ChunkVisitor<'_, '_, '_>) {
    let bytes = visitor.chunk.bytes();
    for record in visitor.records(b'\x0c') {
        let raw = &bytes[record.clone()];
        let page = form_feed::pages(raw).next();
        if page.is_none() && visitor.fits(&record) {
            visitor.others += 1;
            continue;
        }
        let id = page.as_ref().map_or(&[][..], |page| page.id);
        if visitor.wants(&record, id)
            && let Some(page) = page
        {
            let place = visitor.place(&record);
            let text = texts.of_bytes(page.text, false);
            visitor.emit(Parsed::Document(plain(place, raw, page.id, text)));
        }
    }
}

fn whole_file(texts: &mut RawText, is_html: bool, visitor: &mut ChunkVisitor<'_, '_, '_>) {
    let bytes = visitor.chunk.bytes();
    let record = 0..bytes.len();
    if !bytes.is_empty() && visitor.wants(&record, &[]) {
        let place = visitor.place(&record);
        let text = texts.of_bytes(bytes, is_html);
        visitor.emit(Parsed::Document(plain(place, bytes, &[], text)));
    }
}

/// The parser of JSON lines.
struct Lines {
    paths: Paths,
    text: Vec<u8>,
    /// Id, URL, date and further fields, concatenated.
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

    fn read(&mut self, texts: &mut RawText, visitor: &mut ChunkVisitor<'_, '_, '_>) {
        let bytes = visitor.chunk.bytes();
        for record in visitor.records(b'\n') {
            let line = &bytes[record.clone()];
            if line.trim_ascii().is_empty() && visitor.fits(&record) {
                visitor.others += 1;
                continue;
            }
            if !visitor.wants(&record, &[]) {
                continue;
            }
            match self.paths.find(line, &mut self.text) {
                // The line may be invalid JSON only because it is invalid UTF-8.
                Err((_, LineError::Json(_))) if std::str::from_utf8(line).is_err() => {
                    let mended = String::from_utf8_lossy(line);
                    let found = self.paths.find(mended.as_bytes(), &mut self.text);
                    self.emit(texts, visitor, &record, found, true);
                }
                found => self.emit(texts, visitor, &record, found, false),
            }
        }
    }

    fn emit(
        &mut self,
        texts: &mut RawText,
        visitor: &mut ChunkVisitor<'_, '_, '_>,
        record: &Range<usize>,
        found: Result<JsonFields<'_>, (JsonFields<'_>, LineError)>,
        is_broken: bool,
    ) {
        self.labels.clear();
        let fields = match &found {
            Ok(fields) | Err((fields, _)) => fields,
        };
        let [id, url, date] = [ID, URL, DATE].map(|field| fields.label(field, &mut self.labels));
        let end = self.labels.len();
        let further: [_; MAX_FIELDS] =
            std::array::from_fn(|place| fields.value(FURTHER + place, &mut self.labels));
        let id = &self.labels[id..url];
        let text = match &found {
            Ok(fields) => match fields.text() {
                Some(FieldText::Borrowed(text)) => text,
                Some(FieldText::Buffered) | None => &self.text[..],
            },
            Err((_, LineError::Json(detail))) => {
                return visitor.skip(record, id, Reason::BadJson, detail.clone());
            }
            Err((_, LineError::NoText(detail))) => {
                return visitor.skip(record, id, Reason::NoText, detail.clone());
            }
        };
        let mended = (!is_utf8(text)).then(|| String::from_utf8_lossy(text));
        let further: FieldValues<'_> = further.map(|value| {
            let (range, number) = value?;
            Some(FieldValue {
                text: &self.labels[range],
                number,
            })
        });
        let document = Document {
            place: visitor.place(record),
            raw: &visitor.chunk.bytes()[record.clone()],
            id,
            url: &self.labels[url..date],
            date: &self.labels[date..end],
            fields: further,
            text: texts.of_string(mended.as_ref().map_or(text, |mended| mended.as_bytes())),
            doubt: Doubt::of(false, is_broken || mended.is_some()),
        };
        visitor.emit(Parsed::Document(document));
    }
}
