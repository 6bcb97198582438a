//! The documents of a file, in one task.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Int64Array, RecordBatch, StringArray};
use pyo3::prelude::*;
use simtool::corpus::{
    Chunk, ChunkReader, Document, Format, HtmlText, Parsed, Parser, Position, Reading, Source,
    discover,
};
use simtool::engine::naming;
use simtool::jobs::dedup::Scope;
use simtool::{Error, ErrorKind, Result};

use super::batch::damaged;
use super::settings::refuse;
use super::sketch::MOST_TEXT;
use crate::error::exception;
use crate::table::Table;

/// The documents of a file have the numbers from `file << FILE_BITS` on.
const FILE_BITS: u32 = 40;

/// The documents of a file as batches.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct FileDocuments(Mutex<State>);

struct State {
    reader: ChunkReader,
    parser: Parser,
    source: Source,
    next: i64,
}

/// Columns of documents.
#[derive(Default)]
struct Rows {
    positions: Vec<i64>,
    ids: Vec<String>,
    urls: Vec<Option<String>>,
    dates: Vec<Option<String>>,
    texts: Vec<Option<String>>,
    reasons: Vec<Option<String>>,
    languages: Vec<Option<String>>,
}

/// Opens a file, whose number is `file` and whose documents without an id are named after `name`.
/// `settings` is JSON: the fields of `Reading` that differ from the defaults of the command.
///
/// # Errors
/// `OSError` if it cannot be read; `ValueError` for settings.
#[pyfunction]
#[pyo3(signature = (path, name, file, format, text_field, id_field, url_field, date_field, html))]
#[expect(clippy::too_many_arguments, reason = "the settings of reading")]
pub fn read_file(
    path: PathBuf,
    name: PathBuf,
    file: i64,
    format: Option<&str>,
    text_field: String,
    id_field: String,
    url_field: String,
    date_field: String,
    html: Option<&str>,
) -> PyResult<FileDocuments> {
    let open = || -> Result<State> {
        let named = |value: &str| serde_json::Value::from(value);
        let format: Option<Format> = match format {
            None => None,
            Some(name) => Some(serde_json::from_value(named(name)).map_err(|_| {
                refuse(format!(
                    "format {name:?}: expected warc, arc, jsonl or form_feed"
                ))
            })?),
        };
        let html: HtmlText = match html {
            None => HtmlText::default(),
            Some(name) => serde_json::from_value(named(name)).map_err(|_| {
                refuse(format!(
                    "html {name:?}: expected main, article, visible or markup"
                ))
            })?,
        };
        let reading = Reading {
            format,
            text_field,
            id_field,
            url_field,
            date_field,
            html,
            max_document_bytes: MOST_TEXT,
            fields: Scope::Language.fields(),
            ..Reading::default()
        };
        reading.check()?;
        let found = discover(std::slice::from_ref(&path), &[], &reading)?;
        let [mut source] = <[Source; 1]>::try_from(found).map_err(|_| {
            Error::new(ErrorKind::Content, "is not a file of documents").in_file(&path)
        })?;
        let reader = ChunkReader::open(&source, 0, &reading, Position::default())?;
        source.path = name;
        Ok(State {
            reader,
            parser: Parser::new(&reading),
            source,
            next: file << FILE_BITS,
        })
    };
    let state = open().map_err(|error| exception(&error))?;
    Ok(FileDocuments(Mutex::new(state)))
}

#[pymethods]
impl FileDocuments {
    /// The next documents, or `None`.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let next = py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.next()
        });
        let batch = next.map_err(|error| exception(&error))?;
        Ok(batch.map(Table::from))
    }
}

impl State {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.reader.next(Vec::new())? {
            Some(chunk) => self.documents(&chunk).map(Some),
            None => Ok(None),
        }
    }

    fn documents(&mut self, chunk: &Chunk) -> Result<RecordBatch> {
        let mut rows = Rows::default();
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

impl Rows {
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
