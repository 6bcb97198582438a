//! The documents of a file, in one task.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use serde::Deserialize;
use simtool_batch::dedup::Scope;
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::{
    Chunk, ChunkReader, Document, Format, HtmlText, Parsed, Parser, Position, Reading, Source,
    discover,
};
use simtool_engine::naming;

use crate::columns::damaged;
use crate::settings::refuse;
use crate::sketches::MAX_TEXT_BYTES;

/// The documents of a file have the numbers from `file << FILE_BITS` on.
const FILE_BITS: u32 = 40;

/// The documents of a file as batches.
pub struct FileDocuments {
    reader: ChunkReader,
    parser: Parser,
    source: Source,
    /// The number of the next document.
    next: i64,
}

/// Columns of documents.
#[derive(Default)]
struct DocumentRows {
    positions: Vec<i64>,
    ids: Vec<String>,
    urls: Vec<Option<String>>,
    dates: Vec<Option<String>>,
    texts: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
    languages: Vec<Option<String>>,
}

/// How a file is read. What is missing has the value of the command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSettings {
    /// Its format; recognised if missing.
    pub format: Option<Format>,
    /// The field of the text.
    pub text_field: String,
    /// The field of the ID.
    pub id_field: String,
    /// The field of the URL.
    pub url_field: String,
    /// The field of the date.
    pub date_field: String,
    /// The part of texts that are HTML pages.
    pub html: Option<HtmlText>,
}

impl ReadSettings {
    /// Reads JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn parse(text: &str) -> Result<ReadSettings> {
        serde_json::from_str(text).map_err(|cause| refuse(cause.to_string()))
    }
}

impl FileDocuments {
    /// Opens a file, whose number is `file` and whose documents without an ID are named after `name`.
    ///
    /// # Errors
    /// Errors of the settings; [`ErrorKind::Content`] for a file without documents; those of the file.
    pub fn open(
        path: &Path,
        name: PathBuf,
        file: i64,
        settings: ReadSettings,
    ) -> Result<FileDocuments> {
        let reading = Reading {
            format: settings.format,
            text_field: settings.text_field,
            id_field: settings.id_field,
            url_field: settings.url_field,
            date_field: settings.date_field,
            html: settings.html.unwrap_or_default(),
            max_document_bytes: MAX_TEXT_BYTES,
            fields: Scope::Language.fields(),
            ..Reading::default()
        };
        reading.check()?;
        let found = discover(&[path.to_owned()], &[], &reading)?;
        let [mut source] = <[Source; 1]>::try_from(found).map_err(|_| {
            Error::new(ErrorKind::Content, "is not a file of documents").in_file(path)
        })?;
        let reader = ChunkReader::open(&source, 0, &reading, Position::default())?;
        source.path = name;
        Ok(FileDocuments {
            reader,
            parser: Parser::new(&reading),
            source,
            next: file << FILE_BITS,
        })
    }

    /// The next documents; `None` at the end.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        match self.reader.next(Vec::new())? {
            Some(chunk) => self.documents(&chunk).map(Some),
            None => Ok(None),
        }
    }

    fn documents(&mut self, chunk: &Chunk) -> Result<RecordBatch> {
        let mut rows = DocumentRows::default();
        let (source, next) = (&self.source, &mut self.next);
        let mut visit = |_, parsed: Parsed<'_>| {
            match parsed {
                Parsed::Document(document) => rows.document(source, &document),
                Parsed::Skipped(skip) => {
                    let id = naming::name(source, &skip.id, skip.place);
                    rows.ids.push(lossy(&id));
                    rows.urls.push(None);
                    rows.dates.push(None);
                    rows.texts.push(None);
                    rows.languages.push(None);
                    rows.reasons.push(Some(skip.reason.name().to_owned()));
                }
                Parsed::Unwanted => return,
            }
            rows.positions.push(*next);
            *next += 1;
        };
        self.parser
            .for_each(source.format, chunk, &|_| true, &mut visit);
        let file = source.path.to_string_lossy();
        rows.batch(&file)
    }
}

impl DocumentRows {
    fn document(&mut self, source: &Source, document: &Document<'_>) {
        let some = |bytes: &[u8]| (!bytes.is_empty()).then(|| lossy(bytes));
        let id = naming::name(source, document.id, document.place);
        self.ids.push(lossy(&id));
        self.urls.push(some(document.url));
        self.dates.push(some(document.date));
        self.texts.push(Some(lossy(document.text)));
        self.reasons.push(None);
        self.languages.push(language(document));
    }

    fn batch(self, file: &str) -> Result<RecordBatch> {
        let files = StringArray::from_iter_values(std::iter::repeat_n(file, self.ids.len()));
        let columns: [(&str, arrow_array::ArrayRef); 8] = [
            ("position", Arc::new(Int64Array::from(self.positions))),
            ("id", Arc::new(StringArray::from(self.ids))),
            ("url", Arc::new(StringArray::from(self.urls))),
            ("date", Arc::new(StringArray::from(self.dates))),
            ("text", Arc::new(StringArray::from(self.texts))),
            ("skipped", Arc::new(StringArray::from(self.reasons))),
            ("file", Arc::new(files)),
            ("language", Arc::new(StringArray::from(self.languages))),
        ];
        let columns = columns.map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|cause| damaged(cause.to_string()))
    }
}

/// What a field or header says about the language of a document, if it names one.
fn language(document: &Document<'_>) -> Option<String> {
    let values = document.fields.iter().flatten().map(|value| value.text);
    let mut values = values.filter(|text| !text.is_empty());
    let group = |text| Scope::Language.group_of(Path::new(""), b"", std::iter::once(text), b"");
    let found = values.find(|text| group(text).is_some());
    found.map(lossy)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
