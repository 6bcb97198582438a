//! The index of seen documents.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simtool::corpus::{Discovery, HtmlText, Reading};
use simtool::engine::collection::{InputSettings, Inputs};
use simtool::engine::{Progress, Resources};
use simtool::index::{Options, Query};
use simtool::jobs::seen::{ExpectedSettings, IndexSettings, Listing, Payload, Seen, near};
use simtool::program::{half_of_memory, level, parse_size};
use simtool::sketch::registry::Spec;
use simtool::text::builtin_stop_words;
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::job;
use crate::rows::{DATE, ID, TEXT, URL, with_text};
use crate::sketches::{tokenizer, within};

/// The most bytes of a document, as in the command.
const MOST_DOCUMENT_BYTES: u64 = 16 << 20;
/// Bytes of a chunk, as in the command.
const CHUNK_BYTES: usize = 512 << 10;
/// The memory bound by default, if the machine has enough.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

/// How documents are found and read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Source {
    /// Files, directories and patterns.
    paths: Vec<PathBuf>,
    /// The fields of text, id, URL and date; `None` for files of rows.
    fields: Option<[String; 4]>,
    threads: Option<usize>,
    memory: Option<String>,
}

impl Source {
    fn reading(&self, html: HtmlText) -> Reading {
        let own = || [TEXT, ID, URL, DATE].map(str::to_owned);
        let [text_field, id_field, url_field, date_field] = self.fields.clone().unwrap_or_else(own);
        Reading {
            format: None,
            text_field,
            id_field,
            url_field,
            date_field,
            fields: Vec::new(),
            html,
            max_document_bytes: MOST_DOCUMENT_BYTES,
            chunk_bytes: CHUNK_BYTES,
            files: Default::default(),
        }
    }

    fn resources(&self, index: &Path) -> Result<Resources> {
        let refuse = |why| Error::new(ErrorKind::Parameter, format!("memory: {why}"));
        let memory = self
            .memory
            .as_deref()
            .map(parse_size)
            .transpose()
            .map_err(refuse)?;
        let parent = index
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        Ok(Resources {
            threads: job::threads(self.threads)?,
            memory_bytes: memory.unwrap_or_else(|| half_of_memory().min(USUAL_MEMORY_BYTES)),
            temporary: parent.unwrap_or(Path::new(".")).to_owned(),
            level: level()?,
        })
    }

    /// Finds the documents and passes them to `work`.
    fn read<T>(
        &self,
        settings: InputSettings,
        resources: &Resources,
        progress: &Progress,
        work: impl FnOnce(Inputs<'_>) -> Result<T>,
    ) -> Result<T> {
        let found = Discovery::of(&self.paths, &[], &settings.reading)?;
        work(Inputs {
            sources: &found.sources,
            settings: &settings,
            resources,
            progress,
        })
    }
}

/// An open index.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct SeenIndex {
    directory: PathBuf,
    /// `None` after it was closed.
    seen: Mutex<Option<Arc<Seen>>>,
}

/// The lines of documents, those of skipped documents, and the counts of both.
type Lines<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

impl SeenIndex {
    fn of(directory: PathBuf, seen: Seen) -> SeenIndex {
        SeenIndex {
            directory,
            seen: Mutex::new(Some(Arc::new(seen))),
        }
    }

    fn seen(&self) -> PyResult<Arc<Seen>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || PyValueError::new_err("the index is closed");
        seen.as_ref().map(Arc::clone).ok_or_else(closed)
    }
}

/// The settings of a new index.
fn input_settings(tokenizer_name: Option<&str>, reading: Reading) -> Result<InputSettings> {
    Ok(InputSettings {
        reading,
        tokenizer: tokenizer(tokenizer_name)?,
        stop_words: builtin_stop_words(),
    })
}

fn thousandths(similarity: Option<f64>) -> Result<Option<u16>> {
    let Some(share) = similarity else {
        return Ok(None);
    };
    let thousandths = (share * 1000.0).round();
    match (1.0..=1000.0).contains(&thousandths) {
        true => Ok(Some(thousandths as u16)),
        false => {
            let message = format!("similarity {share}: expected 0.001 to 1");
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}

#[pymethods]
impl SeenIndex {
    /// Opens the index in `directory`.
    #[staticmethod]
    #[pyo3(signature = (directory, read_only = false, similarity = None))]
    fn open(
        py: Python<'_>,
        directory: PathBuf,
        read_only: bool,
        similarity: Option<f64>,
    ) -> PyResult<SeenIndex> {
        let open = || -> Result<Seen> {
            let wanted = ExpectedSettings {
                similarity: thousandths(similarity)?,
                ..ExpectedSettings::default()
            };
            let options = Options {
                read_only,
                ..Options::default()
            };
            Seen::open(&directory, &wanted, level()?, &options)
        };
        let seen = py.detach(open).map_err(|error| exception(&error))?;
        Ok(SeenIndex::of(directory, seen))
    }

    /// Makes an empty index.
    #[staticmethod]
    #[pyo3(signature = (directory, method = "simhash", tokenizer_name = None, similarity = None))]
    fn create(
        py: Python<'_>,
        directory: PathBuf,
        method: &str,
        tokenizer_name: Option<&str>,
        similarity: Option<f64>,
    ) -> PyResult<SeenIndex> {
        let create = || -> Result<Seen> {
            let settings = input_settings(tokenizer_name, Reading::default())?;
            let spec = Spec::parse(method)?;
            let similarity = thousandths(similarity)?;
            let settings = IndexSettings::without_collection(spec, &settings, similarity)?;
            Seen::create(&directory, settings, level()?, &Options::default())
        };
        let seen = py.detach(create).map_err(|error| exception(&error))?;
        Ok(SeenIndex::of(directory, seen))
    }

    /// Makes an index of many documents at once, and returns it with the lines of skipped ones.
    #[staticmethod]
    #[pyo3(signature = (directory, source, method = "simhash", tokenizer_name = None, similarity = None, watch = None))]
    fn build<'py>(
        py: Python<'py>,
        directory: PathBuf,
        source: Source,
        method: &str,
        tokenizer_name: Option<&str>,
        similarity: Option<f64>,
        watch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(SeenIndex, Bound<'py, PyBytes>)> {
        let progress = Arc::new(Progress::new());
        let (seen, skipped) = job::run(py, &progress, watch.as_ref(), || {
            let settings = input_settings(tokenizer_name, source.reading(HtmlText::default()))?;
            let resources = source.resources(&directory)?;
            let spec = Spec::parse(method)?;
            let similarity = thousandths(similarity)?;
            let mut skipped = Vec::new();
            let seen = source.read(settings, &resources, &progress, |inputs| {
                let settings = IndexSettings::counted(spec, inputs, similarity)?;
                let mut skip = |line: &[u8]| {
                    skipped.extend_from_slice(line);
                    Ok(())
                };
                let (payload, options) = (Payload::None, Options::default());
                Seen::build_inputs(&directory, settings, &options, inputs, payload, &mut skip)
            })?;
            Ok((seen.0, skipped))
        })?;
        Ok((SeenIndex::of(directory, seen), PyBytes::new(py, &skipped)))
    }

    /// Looks documents up, and adds them if `adds`. Returns a JSON line for each, and those of
    /// skipped ones.
    #[pyo3(signature = (source, adds, limit = 10, watch = None))]
    fn process<'py>(
        &self,
        py: Python<'py>,
        source: Source,
        adds: bool,
        limit: usize,
        watch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Lines<'py>> {
        let seen = self.seen()?;
        let progress = Arc::new(Progress::new());
        let (lines, skipped) = job::run(py, &progress, watch.as_ref(), || {
            within("limit", limit, 10_000)?;
            let settings = seen.settings();
            let settings = InputSettings {
                reading: source.reading(settings.html),
                tokenizer: settings.tokenizer,
                stop_words: settings.stop_words.clone(),
            };
            let resources = source.resources(&self.directory)?;
            let (mut lines, mut skipped) = (Vec::new(), Vec::new());
            source.read(settings, &resources, &progress, |inputs| {
                let mut take = |line: &[u8]| {
                    lines.extend_from_slice(line);
                    Ok(())
                };
                let mut skip = |line: &[u8]| {
                    skipped.extend_from_slice(line);
                    Ok(())
                };
                match adds {
                    true => {
                        let take = &mut take;
                        let listing = Some(Listing { limit, take });
                        seen.add_inputs(inputs, Payload::None, listing, &mut skip)
                            .map(drop)
                    }
                    false => seen
                        .query_inputs(inputs, limit, &mut take, &mut skip)
                        .map(drop),
                }
            })?;
            Ok((lines, skipped))
        })?;
        Ok((PyBytes::new(py, &lines), PyBytes::new(py, &skipped)))
    }

    /// Looks a single text up; returns the verdict and its matches as JSON.
    #[pyo3(signature = (text, limit = 10))]
    fn query_text(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        limit: usize,
    ) -> PyResult<(&'static str, String)> {
        let seen = self.seen()?;
        let text = with_text(text, <[u8]>::to_vec)?;
        let query = || -> Result<(&'static str, String)> {
            within("limit", limit, 10_000)?;
            let mut texts = seen.texts();
            let sketch = texts.sketch(&text).unwrap_or_default();
            let answers = seen.index().seen(&[Query { id: None, sketch }], limit)?;
            let message = "the index did not answer";
            let missing = || Error::new(ErrorKind::Content, message);
            let answer = answers.first().ok_or_else(missing)?;
            let matches = serde_json::to_string(&near(&seen, answer)).unwrap_or_default();
            Ok((answer.verdict.name(), matches))
        };
        py.detach(query).map_err(|error| exception(&error))
    }

    /// Removes documents by their ids; returns whether each was there.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<Vec<bool>> {
        let seen = self.seen()?;
        let remove = || {
            let ids: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
            seen.index().remove(&ids)
        };
        py.detach(remove).map_err(|error| exception(&error))
    }

    /// Whether the index has a document with this id.
    fn has(&self, py: Python<'_>, id: &str) -> PyResult<bool> {
        let seen = self.seen()?;
        let found = py.detach(|| seen.index().document(id.as_bytes()));
        Ok(found.map_err(|error| exception(&error))?.is_some())
    }

    /// The number of documents.
    fn documents(&self) -> PyResult<u64> {
        Ok(self.seen()?.index().info().documents)
    }

    /// Facts about the index: method, tokenizer, documents, removed, recent, segments, bytes, and
    /// the least similarity of a match.
    #[expect(clippy::type_complexity, reason = "a dictionary in Python")]
    fn facts(&self) -> PyResult<(String, String, u64, u64, u64, usize, u64, Option<f64>)> {
        let seen = self.seen()?;
        let info = seen.index().info();
        let settings = seen.settings();
        Ok((
            settings.spec.to_string(),
            settings.tokenizer.name().to_owned(),
            info.documents,
            info.removed,
            info.recent,
            info.segments.len(),
            info.segments.iter().map(|(.., bytes)| bytes).sum(),
            settings.similarity(),
        ))
    }

    /// Merges the index into one segment, without removed documents.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let seen = self.seen()?;
        py.detach(|| seen.index().compact())
            .map_err(|error| exception(&error))
    }

    /// Closes the index. Another process may open it when calls in other threads have ended.
    fn close(&self, py: Python<'_>) {
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        py.detach(|| drop(seen));
    }

    /// Whether it is closed.
    fn is_closed(&self) -> bool {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }
}
