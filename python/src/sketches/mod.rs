//! Fingerprints, signatures and shingles of texts.

pub(super) mod neighbours;
mod pairs;

use std::ops::Range;
use std::sync::Arc;

use crate::tables::texts::Texts;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simtool::engine::Progress;
use simtool::engine::methods::{Common, build_without_statistics};
use simtool::engine::text_words::{TextWords, WordReader};
use simtool::kernel::Level;
use simtool::sketch::minhash::minima;
use simtool::sketch::registry::{METHODS, Spec};
use simtool::sketch::{MAX_PERMUTATIONS, Method, Needs, Shape, SketchScratch};
use simtool::text::{Choice, WordSet, builtin_stop_words};
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::job;
use crate::tables::columns::texts;
use crate::tables::rows::CHECK_ROWS;
use crate::tables::table::Table;

/// Bytes and rows that a thread takes at a time.
const PIECE_BYTES: usize = 1 << 18;
const PIECE_ROWS: usize = 1 << 14;
/// Fewer bytes are processed by one thread.
const FEW_BYTES: usize = 1 << 20;

/// A text of a list.
pub enum Item {
    Nothing,
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

/// Texts of a list or of a column.
pub enum TextList {
    Items(Vec<Item>),
    Columns(Vec<(usize, Texts)>),
}

/// A part of a [`TextList`]: the number of the column, and the rows in it.
type Piece = (usize, Range<usize>);

impl TextList {
    /// The texts of a list of `str`, `bytes` and `None`, or of the column `path` of a table.
    ///
    /// # Errors
    /// `TypeError` and `ValueError` for other objects and for surrogates.
    pub fn of(data: &Bound<'_, PyAny>, path: &str) -> PyResult<TextList> {
        if let Ok(table) = data.cast::<Table>() {
            let table = table.get();
            let columns = texts(&table.schema, &table.batches, path);
            let columns = columns.map_err(|error| exception(&error))?;
            let rows = table.batches.iter().map(|batch| batch.num_rows());
            return Ok(TextList::Columns(rows.zip(columns).collect()));
        }
        let items = data.cast::<PyList>()?.iter().enumerate();
        let item = |(number, object): (usize, Bound<'_, PyAny>)| {
            if number % CHECK_ROWS == 0 {
                object.py().check_signals()?;
            }
            if object.is_none() {
                return Ok(Item::Nothing);
            }
            // Fails with a message if it has surrogates or another type.
            crate::tables::rows::with_text(&object, |_| ())
                .map_err(|error| crate::tables::rows::in_row(object.py(), number, &error))?;
            match object.extract::<PyBackedStr>() {
                Ok(text) => Ok(Item::Text(text)),
                Err(_) => Ok(Item::Bytes(object.extract()?)),
            }
        };
        Ok(TextList::Items(items.map(item).collect::<PyResult<_>>()?))
    }

    fn get(&self, column: usize, row: usize) -> Option<&[u8]> {
        match self {
            TextList::Items(items) => match &items[row] {
                Item::Nothing => None,
                Item::Text(text) => Some(text.as_bytes()),
                Item::Bytes(bytes) => Some(bytes),
            },
            TextList::Columns(columns) => columns[column].1.get(row),
        }
    }

    /// All texts in pieces, in order, and the number of bytes.
    fn pieces(&self) -> (Vec<Piece>, usize) {
        let columns: Vec<usize> = match self {
            TextList::Items(items) => vec![items.len()],
            TextList::Columns(columns) => columns.iter().map(|(rows, _)| *rows).collect(),
        };
        let (mut pieces, mut all) = (Vec::new(), 0);
        for (column, rows) in columns.into_iter().enumerate() {
            let (mut start, mut bytes) = (0, 0);
            for row in 0..rows {
                bytes += self.get(column, row).map_or(0, <[u8]>::len);
                if bytes >= PIECE_BYTES || row + 1 - start >= PIECE_ROWS || row + 1 == rows {
                    pieces.push((column, start..row + 1));
                    all += bytes;
                    (start, bytes) = (row + 1, 0);
                }
            }
        }
        (pieces, all)
    }

    /// Calls `each` with all texts, in order, and a result for each piece of them, to which it
    /// appends. Returns these results.
    ///
    /// `start` makes the state of a thread.
    ///
    /// # Errors
    /// Errors of [`job::run`].
    fn map<S, T: Default + Send>(
        &self,
        py: Python<'_>,
        requested_threads: Option<usize>,
        start: impl Fn() -> S + Sync + Send,
        each: impl Fn(&mut S, Option<&[u8]>, &mut T) + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let (pieces, bytes) = self.pieces();
        let progress = Arc::new(Progress::new());
        let of_piece = |state: &mut S, (column, rows): &Piece| {
            progress.check()?;
            let mut made = T::default();
            rows.clone()
                .for_each(|row| each(state, self.get(*column, row), &mut made));
            Ok(made)
        };
        let threads = job::threads(requested_threads).map_err(|error| exception(&error))?;
        if bytes < FEW_BYTES {
            let mut state = start();
            let made = pieces.iter().map(|piece| of_piece(&mut state, piece));
            return made
                .collect::<Result<_>>()
                .map_err(|error| exception(&error));
        }
        job::run(py, &progress, None, |_| {
            job::in_pool(threads, || {
                let made = pieces.par_iter().map_init(&start, of_piece);
                made.collect()
            })
        })
    }
}

/// The tokenizer of a name.
pub fn tokenizer(name: Option<&str>) -> Result<Choice> {
    name.map_or(Ok(Choice::default()), str::parse)
}

/// Builds the method of a specification.
///
/// # Errors
/// [`ErrorKind::Parameter`], also for methods that need statistics of a collection.
fn built(method: &str, tokenizer: Choice, stop_words: &WordSet) -> Result<Box<dyn Method>> {
    let spec = Spec::parse(method)?;
    if !spec.required_counts().is_empty() {
        let message = format!(
            "method {}: needs statistics of the whole collection, which only dedup, evaluate and \
             an index count",
            spec.name()
        );
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let common = Common {
        tokenizer,
        stop_words,
        level: Level::best(),
    };
    build_without_statistics(&spec, common)
}

/// Sketches of all texts: their bytes, the bits of a fingerprint or none, and the bytes of each
/// sketch, or the length of each one.
///
/// A text without features, also a null one, has the sketch of zeros if all have the same length,
/// otherwise an empty one.
#[pyfunction]
#[pyo3(signature = (data, path, method, tokenizer_name = None, threads = None))]
#[expect(clippy::type_complexity, reason = "sketches and their shape")]
pub fn sketches<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    path: &str,
    method: &str,
    tokenizer_name: Option<&str>,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyBytes>, Option<u32>, Option<usize>, Vec<usize>)> {
    let list = TextList::of(data, path)?;
    let made = tokenizer(tokenizer_name).and_then(|choice| {
        let stop_words = builtin_stop_words();
        Ok((built(method, choice, &stop_words)?, choice))
    });
    let (method, choice) = made.map_err(|error| exception(&error))?;
    let method = &*method;
    let width = match method.shape() {
        Shape::Bits { width, .. } => Some(width),
        Shape::Keys => None,
    };
    let length = method.sketch_bytes();
    let each = |reader: &mut WordReader, text: Option<&[u8]>, out: &mut Sketches| {
        let start = out.bytes.len();
        let has_features =
            text.is_some_and(|text| reader.read(text).sketch(method, &mut out.bytes));
        if !has_features {
            out.bytes.truncate(start);
            out.bytes.resize(start + length.unwrap_or(0), 0);
        }
        if length.is_none() {
            out.lengths.push(out.bytes.len() - start);
        }
    };
    let reader = || WordReader::new(choice, method.needs(), Level::best());
    let parts = list.map(py, threads, reader, each)?;
    let bytes: Vec<&[u8]> = parts.iter().map(|part| &part.bytes[..]).collect();
    let lengths = parts
        .iter()
        .flat_map(|part| part.lengths.iter().copied())
        .collect();
    Ok((PyBytes::new(py, &bytes.concat()), width, length, lengths))
}

/// Sketches, one behind the other.
#[derive(Default)]
struct Sketches {
    bytes: Vec<u8>,
    /// The length of each, if they differ.
    lengths: Vec<usize>,
}

/// The least values of the shingles of all texts under `count` random orders, as little-endian
/// numbers of 32 bits. A text without words has the largest numbers.
#[pyfunction]
#[pyo3(signature = (data, path, count, shingle, tokenizer_name = None, threads = None))]
pub fn minhashes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    path: &str,
    count: usize,
    shingle: usize,
    tokenizer_name: Option<&str>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let list = TextList::of(data, path)?;
    let choice = within("hashes", count, MAX_PERMUTATIONS)
        .and_then(|()| within("shingle", shingle, 100))
        .and_then(|()| tokenizer(tokenizer_name));
    let choice = choice.map_err(|error| exception(&error))?;
    let minima = list.map(
        py,
        threads,
        || {
            (
                WordReader::new(choice, Needs::HASHES, Level::best()),
                SketchScratch::default(),
            )
        },
        |(reader, scratch), text, out: &mut Vec<u32>| {
            let words = text.map(|text| reader.read(text));
            let words = words.as_ref().map_or(&[][..], TextWords::hashes);
            match words {
                [] => out.extend(std::iter::repeat_n(u32::MAX, count)),
                words => {
                    out.extend_from_slice(minima(count, words, shingle, scratch));
                }
            }
        },
    )?;
    let minima = minima.iter().flatten();
    let bytes: Vec<u8> = minima.flat_map(|least| least.to_le_bytes()).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// The sets of shingles of all texts: little-endian numbers of 64 bits, sorted, and the number of
/// each set.
#[pyfunction]
#[pyo3(signature = (data, path, width, tokenizer_name = None, threads = None))]
pub fn shingle_sets<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    path: &str,
    width: usize,
    tokenizer_name: Option<&str>,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
    let list = TextList::of(data, path)?;
    let choice = within("words", width, 100).and_then(|()| tokenizer(tokenizer_name));
    let choice = choice.map_err(|error| exception(&error))?;
    let sets = list.map(
        py,
        threads,
        || WordReader::new(choice, Needs::HASHES, Level::best()),
        |reader, text, out: &mut Vec<Vec<u64>>| {
            let set = text.map(|text| reader.read(text).shingle_set(width).to_vec());
            out.push(set.unwrap_or_default());
        },
    )?;
    let lengths = sets.iter().flatten().map(Vec::len).collect();
    let bytes: Vec<u8> = sets
        .iter()
        .flatten()
        .flatten()
        .flat_map(|shingle| shingle.to_le_bytes())
        .collect();
    Ok((PyBytes::new(py, &bytes), lengths))
}

/// The methods as dictionaries: name, summary, description, measured costs, and parameters.
#[pyfunction]
pub fn methods(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for entry in METHODS {
        let method = PyDict::new(py);
        method.set_item("name", entry.name)?;
        method.set_item("summary", entry.summary)?;
        method.set_item("description", entry.description)?;
        method.set_item("measured", entry.measured)?;
        let parameters = PyList::empty(py);
        for parameter in entry.parameters {
            let object = PyDict::new(py);
            object.set_item("name", parameter.name)?;
            object.set_item("default", parameter.default.to_string())?;
            object.set_item("meaning", parameter.meaning)?;
            object.set_item("domain", parameter.domain.to_string())?;
            parameters.append(object)?;
        }
        method.set_item("parameters", parameters)?;
        list.append(method)?;
    }
    Ok(list)
}

/// Fails unless `value` is 1 to `most`.
pub fn within(name: &str, value: usize, most: usize) -> Result<()> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => {
            let message = format!("{name} {value}: expected 1 to {most}");
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}
