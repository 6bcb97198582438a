//! Rows as inputs of the commands: in memory, or as a temporary file of JSON Lines.
//!
//! An input has the id of each row, its text, and the further fields that the settings name. So the
//! rows are processed by the very code that processes files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::tables::texts::Texts;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simtool::corpus::Source;
use simtool::corpus::parquet::MemoryRows;
use simtool::engine::Progress;
use simtool::{Error, ErrorKind, Result};

use super::columns::{check, readable_column, texts};
use super::json::{Column, string};
use super::table::Table;
use crate::error::exception;

/// The names of the fields of an input. No path of a column begins with them.
pub const ID: &str = "#id";
pub const TEXT: &str = "#text";
pub const URL: &str = "#url";
pub const DATE: &str = "#date";

/// Bytes of text that a thread writes at a time.
const PIECE_BYTES: usize = 1 << 20;
/// Rows that a thread writes at a time.
const PIECE_ROWS: usize = 1 << 14;
/// Python objects between two checks for signals.
pub const CHECK_ROWS: usize = 1 << 12;
/// The deepest nesting of a Python value.
const MAX_DEPTH: usize = 32;

/// The columns of rows, by their paths.
#[derive(Clone, Debug, Default, FromPyObject)]
#[pyo3(from_item_all)]
pub struct RowColumns {
    /// The text.
    pub text: String,
    /// The id; [`ID`] for the number of the row.
    pub id: Option<String>,
    /// The URL, if there is one.
    pub url: Option<String>,
    /// The date, if there is one.
    pub date: Option<String>,
    /// The outermost fields that settings name.
    pub fields: Vec<String>,
}

/// A file of rows.
struct RowFile<'a> {
    file: File,
    path: &'a Path,
}

impl RowFile<'_> {
    fn create(path: &Path) -> Result<RowFile<'_>> {
        let file = File::create_new(path).map_err(|cause| unwritable(path, cause))?;
        Ok(RowFile { file, path })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.map_err(|cause| unwritable(self.path, cause))
    }
}

fn unusable(cause: ArrowError) -> Error {
    Error::new(ErrorKind::Content, cause.to_string())
}

fn unwritable(path: &Path, cause: std::io::Error) -> Error {
    let message = "cannot hold the rows";
    let error = Error::new(ErrorKind::Write, message);
    error.in_file(path).caused_by(cause)
}

impl RowColumns {
    /// Whether the id of a row is its number.
    fn is_numbered(&self) -> bool {
        self.id.as_deref() == Some(ID)
    }

    /// The columns besides the text: the name of the setting, the name in the input, and the path.
    fn others(&self) -> Vec<(&'static str, &str, &str)> {
        let id = self.id.as_deref().filter(|_| !self.is_numbered());
        let named = [
            ("ids", ID, id),
            ("url", URL, self.url.as_deref()),
            ("date", DATE, self.date.as_deref()),
        ];
        let named = named.into_iter();
        let named = named.filter_map(|(setting, name, path)| Some((setting, name, path?)));
        let fields = self
            .fields
            .iter()
            .map(|name| ("field", name.as_str(), name.as_str()));
        named.chain(fields).collect()
    }
}

/// The columns of a batch.
struct BatchColumns<'a> {
    is_numbered: bool,
    text: &'a Texts,
    /// Names in the file, and columns.
    others: Vec<(&'a str, Column)>,
}

impl BatchColumns<'_> {
    fn write(&self, number: u64, row: usize, out: &mut Vec<u8>) {
        begin(self.is_numbered.then_some(number), out);
        match self.text.get(row) {
            Some(text) => string(text, out),
            None => out.extend_from_slice(b"null"),
        }
        for (name, column) in &self.others {
            out.push(b',');
            string(name.as_bytes(), out);
            out.push(b':');
            column.write(row, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Begins the object of a row, up to its text.
fn begin(number: Option<u64>, out: &mut Vec<u8>) {
    out.push(b'{');
    if let Some(number) = number {
        out.extend_from_slice(format!("\"{ID}\":{number},").as_bytes());
    }
    out.extend_from_slice(b"\"#text\":");
}

/// The rows of a table as an input, which reports call `name`. Columns are shared, not copied.
///
/// # Errors
/// [`ErrorKind::Parameter`] for columns that do not exist, and a text that is none.
pub fn source(name: &Path, table: &Table, columns: &RowColumns) -> Result<Source> {
    let Table { schema, batches } = table;
    texts(schema, batches, &columns.text)?;
    let others = columns.others();
    for (setting, _, path) in &others {
        check(schema, setting, path)?;
    }
    let text = ("text", TEXT, columns.text.as_str());
    let wanted: Vec<_> = [text].into_iter().chain(others).collect();
    let projected = batches.iter().map(|batch| {
        let columns = wanted
            .iter()
            .filter_map(|&(_, name, path)| Some((name, readable_column(batch, path)?, true)));
        RecordBatch::try_from_iter_with_nullable(columns).map_err(unusable)
    });
    let rows = MemoryRows::new(&projected.collect::<Result<Vec<_>>>()?, TEXT)?;
    Ok(Source::of_rows(name.to_owned(), rows))
}

/// Writes all rows of a table to the new file `path`, on the current rayon pool.
///
/// Memory: some megabytes for each thread; a text may be longer.
///
/// # Errors
/// [`ErrorKind::Parameter`] for columns that do not exist, and a text that is none;
/// [`ErrorKind::Write`]; interruption.
pub fn write_table(
    path: &Path,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    columns: &RowColumns,
    progress: &Progress,
) -> Result<()> {
    let texts = texts(schema, batches, &columns.text)?;
    let others = columns.others();
    for (setting, _, path) in &others {
        check(schema, setting, path)?;
    }
    let mut file = RowFile::create(path)?;
    let mut first = 0;
    for (batch, text) in batches.iter().zip(&texts) {
        let others = others.iter().filter_map(|&(_, name, path)| {
            let found = readable_column(batch, path)?;
            Some((name, Column::of(&found)))
        });
        let columns = BatchColumns {
            is_numbered: columns.is_numbered(),
            text,
            others: others.collect(),
        };
        let pieces = pieces(text, batch.num_rows());
        for group in pieces.chunks(2 * rayon::current_num_threads()) {
            progress.check()?;
            let written: Vec<Vec<u8>> = group
                .par_iter()
                .map(|piece| {
                    let mut out = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 4);
                    let rows = piece.clone();
                    rows.for_each(|row| columns.write(first + row as u64, row, &mut out));
                    out
                })
                .collect();
            written.iter().try_for_each(|piece| file.write(piece))?;
        }
        first += batch.num_rows() as u64;
    }
    Ok(())
}

/// The rows of a batch in pieces of about [`PIECE_BYTES`].
fn pieces(texts: &Texts, rows: usize) -> Vec<std::ops::Range<usize>> {
    let (mut pieces, mut start, mut bytes) = (Vec::new(), 0, 0);
    for row in 0..rows {
        bytes += texts.get(row).map_or(0, <[u8]>::len);
        if bytes >= PIECE_BYTES || row + 1 - start >= PIECE_ROWS {
            pieces.push(start..row + 1);
            (start, bytes) = (row + 1, 0);
        }
    }
    if start < rows {
        pieces.push(start..rows);
    }
    pieces
}

/// Writes Python objects, each a `str`, `bytes`, `None` or a `dict` with the fields of `columns`, to
/// the new file `path`.
///
/// # Errors
/// `TypeError` for other objects, `ValueError` for a `str` with surrogates and for a `dict` whose
/// text is not text; [`ErrorKind::Write`] as `OSError`; the exception of a signal handler.
pub fn write_objects(
    path: &Path,
    objects: &Bound<'_, PyList>,
    columns: &RowColumns,
) -> PyResult<()> {
    let mut file = RowFile::create(path).map_err(|error| exception(&error))?;
    let mut out = Vec::new();
    let (mut has_text, mut is_missing) = (false, None);
    let others = columns.others();
    for (number, object) in objects.iter().enumerate() {
        if number % CHECK_ROWS == 0 {
            objects.py().check_signals()?;
        }
        let in_row = |error: PyErr| in_row(objects.py(), number, &error);
        begin(columns.is_numbered().then_some(number as u64), &mut out);
        match object.cast::<PyDict>() {
            Err(_) => text_or_null(&object, &mut out).map_err(in_row)?,
            Ok(row) => {
                let text = field(row, &columns.text)?;
                match &text {
                    Some(text) => {
                        has_text = true;
                        text_or_null(text, &mut out).map_err(in_row)?;
                    }
                    None => {
                        // A text that is `None` is no missing field.
                        let outer = columns.text.split('.').next().unwrap_or_default();
                        match row.contains(&columns.text)? || row.contains(outer)? {
                            true => has_text = true,
                            false => drop(is_missing.get_or_insert_with(|| row.clone())),
                        }
                        out.extend_from_slice(b"null");
                    }
                }
                for &(_, name, path) in &others {
                    if let Some(found) = field(row, path)? {
                        out.push(b',');
                        string(name.as_bytes(), &mut out);
                        out.push(b':');
                        value(&found, 0, &mut out).map_err(in_row)?;
                    }
                }
            }
        }
        out.extend_from_slice(b"}\n");
        if out.len() >= PIECE_BYTES {
            file.write(&out).map_err(|error| exception(&error))?;
            out.clear();
        }
    }
    if let (false, Some(row)) = (has_text, is_missing) {
        let names: Vec<String> = row.keys().iter().map(|name| name.to_string()).collect();
        let message = format!(
            "text {:?}: no row has it; the first one has {}",
            columns.text,
            names.join(", ")
        );
        return Err(PyValueError::new_err(message));
    }
    file.write(&out).map_err(|error| exception(&error))
}

/// The same exception with the number of the row.
pub fn in_row(py: Python<'_>, number: usize, error: &PyErr) -> PyErr {
    let message = format!("row {number}: {}", error.value(py));
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(message),
        false => PyValueError::new_err(message),
    }
}

/// The field at `path`; `None` if it is missing or `None`. A key that is the whole path comes first.
fn field<'py>(row: &Bound<'py, PyDict>, path: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(found) = row.get_item(path)? {
        return Ok((!found.is_none()).then_some(found));
    }
    let mut found = row.clone().into_any();
    for name in path.split('.') {
        let inner = match found.cast::<PyDict>() {
            Ok(outer) => outer.get_item(name)?,
            Err(_) => None,
        };
        match inner {
            Some(inner) => found = inner,
            None => return Ok(None),
        }
    }
    Ok((!found.is_none()).then_some(found))
}

fn text_or_null(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    if object.is_none() {
        out.extend_from_slice(b"null");
    } else {
        with_text(object, |text| string(text, out))?;
    }
    Ok(())
}

/// Passes the bytes of a `str` or `bytes` to `take`.
///
/// # Errors
/// `TypeError` for other objects; `ValueError` for surrogates, which UTF-8 does not have.
pub fn with_text<T>(object: &Bound<'_, PyAny>, take: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    if let Ok(text) = object.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(take(text.as_bytes())),
            Err(_) => Err(PyValueError::new_err(
                "the text has a surrogate, which is no character \
                 (text.encode('utf-8', 'replace').decode() replaces it)",
            )),
        };
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(take(bytes.as_bytes()));
    }
    let name = object.get_type().name()?;
    let message = format!("expected str, bytes, None or dict, found {name}");
    Err(PyTypeError::new_err(message))
}

/// Appends the value of a field: what `json.dumps` writes, and dates and times as strings.
fn value(object: &Bound<'_, PyAny>, depth: usize, out: &mut Vec<u8>) -> PyResult<()> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err("a field is nested too deeply"));
    }
    if object.is_none() {
        out.extend_from_slice(b"null");
    } else if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        with_text(object, |text| string(text, out))?;
    } else if let Ok(flag) = object.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
    } else if object.is_instance_of::<PyInt>() {
        out.extend_from_slice(object.call_method0("__int__")?.str()?.to_str()?.as_bytes());
    } else if let Ok(number) = object.cast::<PyFloat>() {
        match number.value().is_finite() {
            true => out.extend_from_slice(number.repr()?.to_str()?.as_bytes()),
            false => out.extend_from_slice(b"null"),
        }
    } else if let Ok(outer) = object.cast::<PyDict>() {
        out.push(b'{');
        for (number, (name, inner)) in outer.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            with_text(name.str()?.as_any(), |name| string(name, out))?;
            out.push(b':');
            value(&inner, depth + 1, out)?;
        }
        out.push(b'}');
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        out.extend_from_slice(b"null");
    } else if object.get_type().fully_qualified_name()? == "uuid.UUID" {
        with_text(object.str()?.as_any(), |text| string(text, out))?;
    } else if object.hasattr("isoformat")? {
        let text = object.call_method0("isoformat")?;
        with_text(&text, |text| string(text, out))?;
    } else {
        let message = format!("a field is a {}", object.get_type().name()?);
        return Err(PyTypeError::new_err(message));
    }
    Ok(())
}
