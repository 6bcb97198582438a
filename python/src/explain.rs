//! The similarity of two texts, and why they are near or not.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simtool::corpus::RawText;
use simtool::engine::text_words::WordReader;
use simtool::jobs::explain::ExplainSettings;
use simtool::kernel::Level;
use simtool::program::{compared, requested_methods};
use simtool::report;
use simtool::sketch::Needs;
use simtool::text::shingles::overlap;
use simtool::text::{WordSet, builtin_stop_words};
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::index_settings;
use crate::sketches::{tokenizer, within};
use crate::tables::rows::with_text;

/// Bytes of each text that are shown as HTML.
const SHOWN_BYTES: usize = 4000;

fn text(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    with_text(object, <[u8]>::to_vec)
}

/// The numbers of shared and of all shingles of two texts.
#[pyfunction]
#[pyo3(signature = (a, b, shingle = None, tokenizer_name = None))]
pub fn shared_shingles(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    shingle: Option<usize>,
    tokenizer_name: Option<&str>,
) -> PyResult<(usize, usize)> {
    let texts = [text(a)?, text(b)?];
    let count = || -> Result<(usize, usize)> {
        let choice = tokenizer(tokenizer_name)?;
        let width = shingle.unwrap_or_else(|| choice.usual_width());
        within("shingle", width, 100)?;
        let mut reader = WordReader::new(choice, Needs::HASHES, Level::best());
        let sets = texts
            .each_ref()
            .map(|text| reader.read(text).shingle_set(width).to_vec());
        let shared = overlap(&sets[0], &sets[1]);
        Ok((shared, sets[0].len() + sets[1].len() - shared))
    };
    py.detach(count).map_err(|error| exception(&error))
}

/// The verdicts of methods on two texts as JSON; the same and the texts side by side as text; and
/// both texts as HTML, with their differences marked.
#[pyfunction]
#[pyo3(signature = (
    a, b, similarity = 0.8, shingle = None, distance = 6, recall = 0.99, method = Vec::new(),
    keep_stop_words = false, tokenizer_name = None, width = 100
))]
#[expect(clippy::too_many_arguments, reason = "the flags of simtool explain")]
pub fn explain(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    similarity: f64,
    shingle: Option<usize>,
    distance: u32,
    recall: f64,
    method: Vec<String>,
    keep_stop_words: bool,
    tokenizer_name: Option<&str>,
    width: usize,
) -> PyResult<(String, String, [String; 2])> {
    let owned = [text(a)?, text(b)?];
    let texts = owned.each_ref().map(Vec::as_slice);
    let compare = || -> Result<(String, String, [String; 2])> {
        let choice = tokenizer(tokenizer_name)?;
        let thousandths = (similarity * 1000.0).round();
        if !(1.0..=1000.0).contains(&thousandths) {
            let message = format!("similarity {similarity}: expected 0.001 to 1");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let settings = ExplainSettings {
            tokenizer: choice,
            shingle: shingle.unwrap_or_else(|| choice.usual_width()),
            thousandths: thousandths as u32,
            distance,
            stop_words: match keep_stop_words {
                true => WordSet::default(),
                false => builtin_stop_words(),
            },
            recall,
            methods: requested_methods(&method)?,
        };
        within("width", width, 1000)?;
        let (text, json) = compared(texts, &settings, width)?;
        let html = report::difference(texts, SHOWN_BYTES);
        Ok((json.to_string(), text, html))
    };
    py.detach(compare).map_err(|error| exception(&error))
}

/// The text of a string that may be an HTML page, as of a row: the part `html` of the page.
#[pyfunction]
#[pyo3(signature = (text, html = None))]
pub fn page_text<'py>(
    text: &Bound<'py, PyAny>,
    html: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let part = index_settings::html(html).map_err(|error| exception(&error))?;
    let py = text.py();
    with_text(text, |text| {
        let mut raw = RawText::new(part);
        PyBytes::new(py, raw.of_string(text))
    })
}
