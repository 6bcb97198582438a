//! The result of a search for passages in rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tables::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray, UInt64Array,
};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simtool::Result;
use simtool::corpus::{ChunkReader, Format, HtmlText, Parsed, Parser, Position, Reading, discover};

use crate::error::exception;
use crate::index_settings;
use crate::reports::state::{self, Reduced, State};
use crate::reports::{self, RowReport, about};
use crate::tables::ids::{Document, IdColumn, IdState, RowIds};
use crate::tables::rows::{ID, TEXT};
use crate::tables::table::Table;

const PASSAGES: [&str; 10] = [
    "text",
    "shortened",
    "count",
    "removed",
    "documents",
    "sites",
    "bytes",
    "share",
    "id",
    "row",
];
const ITEMS: [&str; 15] = [
    "id",
    "row",
    "words",
    "ngrams",
    "found",
    "share",
    "ignored",
    "documents",
    "too_short",
    "edited",
    "best",
    "best_row",
    "best_found",
    "best_text_start",
    "best_text_end",
];
/// The columns of the number of a range and of the document that it repeats, or of the item.
const COPY_NAMES: [&str; 2] = ["copies", "kept"];
const ITEM_NAMES: [&str; 2] = ["ngrams", "item"];
/// Rows of at most this length are read.
const MAX_ROW_BYTES: u64 = 1 << 40;

/// The result of a search for passages in rows: ranges, frequent passages, changed texts and skipped
/// rows.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct PassageRows {
    rows: u64,
    ranges: RowReport,
    /// The column of the number of a range, and that of the document that it repeats.
    names: [&'static str; 2],
    /// The frequent passages, or the reference items.
    list: RowReport,
    /// The rows that the action drops, in order.
    dropped: Vec<u64>,
    /// The texts of rows that the action changed.
    changed: HashMap<u64, Vec<u8>>,
    skipped: RowReport,
    ids: RowIds,
}

#[pymethods]
impl PassageRows {
    /// Reads the reports of a command in `out` about the rows in the file `data`, which were compared
    /// with those in the file `others`; changed rows are in the file `changed`.
    #[new]
    #[pyo3(signature = (command, out, data, rows, others = None, changed = None, html = None, ids = None, against = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        command: &str,
        out: PathBuf,
        data: &str,
        rows: u64,
        others: Option<&str>,
        changed: Option<PathBuf>,
        html: Option<&str>,
        ids: Option<IdColumn<'_>>,
        against: Option<IdColumn<'_>>,
    ) -> PyResult<PassageRows> {
        let ids = RowIds::new(ids, against)?;
        let html = index_settings::html(html).map_err(|error| exception(&error))?;
        let read = || -> Result<PassageRows> {
            let (names, list) = match command {
                "decontaminate" => (ITEM_NAMES, &ITEMS[..]),
                _ => (COPY_NAMES, &PASSAGES[..]),
            };
            let read =
                |name, columns: &[&str]| RowReport::read((&out, command, name), data, columns);
            let columns = range_columns(names);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let ranges = read("ranges", &columns)?;
            let mut wanted = rows_of(ranges.documents("id"));
            wanted.dedup();
            let mut texts = HashMap::new();
            if let Some(path) = changed {
                // The text of a page was written, not the page.
                row_texts(&path, HtmlText::Markup, |row, text| {
                    if wanted.binary_search(&row).is_ok() {
                        texts.insert(row, text.to_vec());
                    }
                })?;
            }
            let documents = read("documents", &["id", "dropped"])?;
            let is_dropped = documents.column("dropped").as_boolean();
            let mut dropped = rows_of(
                documents
                    .filter(|row| is_dropped.value(row))?
                    .documents("id"),
            );
            dropped.sort_unstable();
            Ok(PassageRows {
                rows,
                ranges: with_characters(ranges, names[1], [Some(data), others], html)?,
                names,
                list: read("list", list)?,
                dropped,
                changed: texts,
                skipped: reports::skipped(&out, command, data)?,
                ids,
            })
        };
        py.detach(read).map_err(|error| exception(&error))
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, PassageState<Table>>> {
        let changed = self.changed.iter().map(|(row, text)| (*row, text.clone()));
        let found = (
            self.rows,
            self.names == ITEM_NAMES,
            state::of(&self.ranges)?,
            state::of(&self.list)?,
            self.dropped.clone(),
            changed.collect(),
            state::of(&self.skipped)?,
            self.ids.state()?,
        );
        state::reduced(py, "restored_passages", found)
    }

    /// A byte for each row: 1 if it stays, 0 if it is dropped.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut mask = vec![1; self.rows as usize];
        self.dropped.iter().for_each(|row| mask[*row as usize] = 0);
        PyBytes::new(py, &mask)
    }

    /// The numbers of ranges, of rows that have some, of dropped and of skipped rows.
    fn counts(&self) -> (usize, usize, usize, usize) {
        let mut rows = rows_of(self.ranges.documents("id"));
        rows.dedup();
        let (dropped, skipped) = (self.dropped.len(), self.skipped.len());
        (self.ranges.len(), rows.len(), dropped, skipped)
    }

    /// The ranges, in order.
    fn ranges(&self) -> PyResult<Table> {
        self.ranges.table(&self.ids)
    }

    /// The most frequent passages, with their first occurrences; or the reference items, by the share
    /// that was found.
    fn listed(&self) -> PyResult<Table> {
        self.list.table(&self.ids)
    }

    /// The skipped rows, with reasons.
    fn skipped(&self) -> PyResult<Table> {
        self.skipped.table(&self.ids)
    }

    /// For each document of the column `column` of the table `name` (`ranges` or `listed`), whether it is
    /// in the data that it was compared with: 1 or 0.
    fn are_against<'py>(&self, py: Python<'py>, name: &str, column: &str) -> Bound<'py, PyBytes> {
        let report = if name == "ranges" {
            &self.ranges
        } else {
            &self.list
        };
        let flags = report.documents(column).iter();
        let flags: Vec<u8> = flags.map(|document| document.is_against().into()).collect();
        PyBytes::new(py, &flags)
    }

    /// A range as a dictionary: the row and the bytes of it, and those that it repeats; `kept_row` is
    /// in the data that it was compared with if `is_against`.
    fn range<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let missing = || pyo3::exceptions::PyIndexError::new_err("there is no such range");
        let ranges = &self.ranges;
        let [count, origin] = self.names;
        let document = |name| ranges.documents(name).get(number).ok_or_else(missing);
        let (own, kept) = (document("id")?, document(origin)?);
        let bytes = |prefix| places(ranges, prefix).map(|ends| ends.value(number));
        let object = PyDict::new(py);
        object.set_item("row", own.row())?;
        object.set_item("bytes", bytes("id"))?;
        object.set_item("count", ranges.whole(count).value(number))?;
        let kept_bytes = (*kept != Document::Nothing).then(|| bytes(origin));
        object.set_item("kept_bytes", kept_bytes)?;
        object.set_item("kept_row", kept.row())?;
        object.set_item("is_against", kept.is_against())?;
        Ok(object)
    }

    /// The rows whose texts the action changed, in order, without dropped ones.
    fn changed_rows(&self) -> Vec<u64> {
        let mut rows: Vec<u64> = self.changed.keys().copied().collect();
        rows.sort_unstable();
        rows
    }

    /// The text of a row that the action changed; `None` for others.
    fn changed<'py>(&self, py: Python<'py>, row: u64) -> Option<Bound<'py, PyBytes>> {
        self.changed.get(&row).map(|text| PyBytes::new(py, text))
    }

    /// A table with the changed texts in its column `name`. A dictionary becomes plain texts.
    fn with_changed(&self, table: &Bound<'_, Table>, name: &str) -> PyResult<Table> {
        let table = table.get();
        let no_column = || pyo3::exceptions::PyKeyError::new_err(name.to_owned());
        let place = table.schema.index_of(name).map_err(|_| no_column())?;
        let mut first = 0;
        let mut changed = Vec::with_capacity(table.batches.len());
        for batch in &table.batches {
            let column = batch.column(place);
            let texts = Texts::of(column).ok_or_else(no_column)?;
            let texts = (first..).zip(0..batch.num_rows()).map(|(number, row)| {
                let changed = self.changed.get(&number).map(Vec::as_slice);
                changed.or_else(|| texts.get(row))
            });
            let texts = array_of(column.data_type(), texts);
            first += batch.num_rows() as u64;
            changed.push(texts);
        }
        table.with_column(place, changed)
    }
}

/// Rows, whether there are items, ranges, the list, dropped rows, changed texts, skipped rows, and ids.
type PassageState<T> = (
    u64,
    bool,
    State<T>,
    State<T>,
    Vec<u64>,
    Vec<(u64, Vec<u8>)>,
    State<T>,
    IdState<T>,
);

/// The result of a state of `PassageRows.__reduce__`.
#[pyfunction]
pub fn restored_passages(state: PassageState<Bound<'_, Table>>) -> PyResult<PassageRows> {
    let (rows, has_items, ranges, list, dropped, changed, skipped, ids) = state;
    Ok(PassageRows {
        rows,
        ranges: state::restored(ranges)?,
        names: if has_items { ITEM_NAMES } else { COPY_NAMES },
        list: state::restored(list)?,
        dropped,
        changed: changed.into_iter().collect(),
        skipped: state::restored(skipped)?,
        ids: RowIds::restored(ids)?,
    })
}

/// Texts as an array of the type `data_type`.
fn array_of<'a>(data_type: &DataType, texts: impl Iterator<Item = Option<&'a [u8]>>) -> ArrayRef {
    let strings = |text: Option<&'a [u8]>| text.map(String::from_utf8_lossy);
    match data_type {
        DataType::Binary => Arc::new(texts.collect::<BinaryArray>()),
        DataType::LargeBinary => Arc::new(texts.collect::<LargeBinaryArray>()),
        DataType::BinaryView => Arc::new(texts.collect::<BinaryViewArray>()),
        DataType::Utf8 => Arc::new(texts.map(strings).collect::<StringArray>()),
        DataType::Utf8View => Arc::new(texts.map(strings).collect::<StringViewArray>()),
        _ => Arc::new(texts.map(strings).collect::<LargeStringArray>()),
    }
}

/// The columns of ranges; those of their number and of the document that they repeat have names.
fn range_columns([count, origin]: [&str; 2]) -> Vec<String> {
    let own = [
        "id",
        "row",
        "char_start",
        "char_end",
        "text_start",
        "text_end",
        count,
        "why",
        "words",
    ];
    let of_origin = ["row", "char_start", "char_end", "text_start", "text_end"];
    let of_origin = of_origin.map(|name| format!("{origin}_{name}"));
    let own = own.into_iter().chain([origin]).map(str::to_owned);
    own.chain(of_origin).collect()
}

/// The bytes of ranges, or of what they repeat: the places in the texts of a column of documents.
fn places<'a>(ranges: &'a RowReport, document: &str) -> [&'a UInt64Array; 2] {
    ["text_start", "text_end"].map(|name| ranges.whole(&about(document, name)))
}

fn rows_of(documents: &[Document]) -> Vec<u64> {
    documents.iter().filter_map(Document::row).collect()
}

/// Adds the characters of all places in rows to ranges, from the texts in the files of the rows.
/// O(bytes of the files).
fn with_characters(
    mut ranges: RowReport,
    origin: &str,
    files: [Option<&str>; 2],
    html: HtmlText,
) -> Result<RowReport> {
    let mut characters = [(); 2].map(|()| vec![None; ranges.len()]);
    let mut by_file = [Vec::new(), Vec::new()];
    for (id, found) in ["id", origin].into_iter().zip(&mut characters) {
        let [starts, ends] = places(&ranges, id);
        for (number, (document, found)) in ranges.documents(id).iter().zip(found).enumerate() {
            if let Some(row) = document.row() {
                let bytes = [starts.value(number), ends.value(number)];
                by_file[usize::from(document.is_against())].push((row, bytes, found));
            }
        }
    }
    for (path, mut places) in files.into_iter().zip(by_file) {
        let Some(path) = path.filter(|_| !places.is_empty()) else {
            continue;
        };
        places.sort_by_key(|(row, bytes, _)| (*row, *bytes));
        let mut places = places.into_iter().peekable();
        row_texts(Path::new(path), html, |row, text| {
            let (mut byte, mut character) = (0, 0);
            while let Some((_, bytes, found)) = places.next_if(|(of, ..)| *of <= row) {
                let start = clamped(bytes[0], text);
                character += count(&text[byte..start]);
                byte = start;
                let end = clamped(bytes[1], text).max(start);
                *found = Some([character, character + count(&text[start..end])]);
            }
        })?;
    }
    for (id, found) in ["id", origin].into_iter().zip(&characters) {
        for (end, name) in ["char_start", "char_end"].into_iter().enumerate() {
            let values = found.iter().map(|place| place.map(|place| place[end]));
            ranges = ranges.with(&about(id, name), values)?;
        }
    }
    Ok(ranges)
}

/// Calls `take` with the number and the text of each row in the file `path` that has one, in order.
fn row_texts(path: &Path, html: HtmlText, mut take: impl FnMut(u64, &[u8])) -> Result<()> {
    let reading = Reading {
        format: Some(Format::Jsonl),
        text_field: TEXT.to_owned(),
        id_field: ID.to_owned(),
        html,
        max_document_bytes: MAX_ROW_BYTES,
        ..Reading::default()
    };
    let mut parser = Parser::new(&reading);
    for source in discover(&[path.to_owned()], &[], &reading)? {
        let mut reader = ChunkReader::open(&source, 0, &reading, Position::default())?;
        while let Some(chunk) = reader.next(Vec::new())? {
            parser.for_each(source.format, &chunk, &|_| true, &mut |_, parsed| {
                if let Parsed::Document(document) = parsed
                    && let Some(row) = std::str::from_utf8(document.id).ok()
                    && let Ok(row) = row.parse()
                {
                    take(row, document.text);
                }
            });
        }
    }
    Ok(())
}

fn clamped(byte: u64, text: &[u8]) -> usize {
    usize::try_from(byte).map_or(text.len(), |byte| byte.min(text.len()))
}

/// The number of characters of UTF-8.
fn count(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}
