//! The index of seen documents.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simtool::corpus::{Discovery, DiscoveryProgress, HtmlText, RawText, Reading};
use simtool::engine::collection::{InputSettings, Inputs};
use simtool::engine::{Progress, Resources};
use simtool::index::Options;
use simtool::io::remote::Client;
use simtool::jobs::seen::{ExpectedSettings, IndexSettings, Listing, Seen, keep_fields};
use simtool::program::{half_of_memory, level, parse_size};
use simtool::{Error, ErrorKind, Result};

use crate::error::exception;
use crate::index_settings::{self as settings, NewIndex};
use crate::job;
use crate::open_indexes as open;
use crate::sketches::within;
use crate::tables::rows::{DATE, ID, TEXT, URL, with_text};

/// The maximum number of bytes of a document, as in the command.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;
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
    /// How documents are read, with the fields that decide which copy is the best.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for rows, of which no other columns are read.
    fn reading(&self, html: HtmlText, fields: Vec<String>) -> Result<Reading> {
        if let (Some(field), None) = (fields.first(), &self.fields) {
            let message = format!(
                "keep: the best copy is found by the field {field:?}, which is read from files, not \
                 from rows (pass the path of a file)"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let own = || [TEXT, ID, URL, DATE].map(str::to_owned);
        let [text_field, id_field, url_field, date_field] = self.fields.clone().unwrap_or_else(own);
        Ok(Reading {
            format: None,
            text_field,
            id_field,
            url_field,
            date_field,
            fields,
            html,
            max_document_bytes: MAX_DOCUMENT_BYTES,
            chunk_bytes: CHUNK_BYTES,
            ..Reading::default()
        })
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
        (progress, client): (&Progress, &Client),
        work: impl FnOnce(Inputs<'_>) -> Result<T>,
    ) -> Result<T> {
        let found = DiscoveryProgress::default();
        let found = Discovery::of(&self.paths, &[], &settings.reading, client, &found)?;
        let sources = found.sources;
        work(Inputs {
            sources: &sources,
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
    fn of(directory: PathBuf, seen: Arc<Seen>) -> SeenIndex {
        SeenIndex {
            directory,
            seen: Mutex::new(Some(seen)),
        }
    }

    fn seen(&self) -> PyResult<Arc<Seen>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = || PyValueError::new_err("the index is closed");
        seen.as_ref().map(Arc::clone).ok_or_else(closed)
    }
}

#[pymethods]
impl SeenIndex {
    /// Opens the index in `directory`. One that this process has open for changes is shared.
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
                similarity: settings::thousandths(similarity)?,
                ..ExpectedSettings::default()
            };
            let options = Options {
                read_only,
                ..Options::default()
            };
            Seen::open(&directory, &wanted, level()?, &options)
        };
        let seen = py.detach(|| open::shared(&directory, read_only, open));
        let seen = seen.map_err(|error| exception(&error))?;
        Ok(SeenIndex::of(directory, seen))
    }

    /// Makes an empty index.
    #[staticmethod]
    fn create(py: Python<'_>, directory: PathBuf, new: NewIndex) -> PyResult<SeenIndex> {
        let create = || -> Result<Seen> {
            let reading = Reading {
                html: new.html()?,
                ..Reading::default()
            };
            let settings = new.input_settings(reading)?;
            let (spec, similarity) = (new.spec()?, new.similarity()?);
            let settings = IndexSettings::without_collection(spec, &settings, similarity)?;
            let settings = new.made(settings)?;
            Seen::create(&directory, settings, level()?, &new.options()?)
        };
        let seen = py.detach(|| open::shared(&directory, false, create));
        let seen = seen.map_err(|error| exception(&error))?;
        Ok(SeenIndex::of(directory, seen))
    }

    /// Makes an index of many documents at once, and returns it with the lines of skipped ones.
    #[staticmethod]
    #[pyo3(signature = (directory, source, new, payload = None, dump = "", watch = None))]
    fn build<'py>(
        py: Python<'py>,
        directory: PathBuf,
        source: Source,
        new: NewIndex,
        payload: Option<&str>,
        dump: &str,
        watch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(SeenIndex, Bound<'py, PyBytes>)> {
        let progress = Arc::new(Progress::new());
        let (seen, skipped) = job::run(py, &progress, watch.as_ref(), |client| {
            let settings =
                new.input_settings(source.reading(new.html()?, keep_fields(&new.keep()?))?)?;
            let resources = source.resources(&directory)?;
            let (spec, similarity) = (new.spec()?, new.similarity()?);
            let (payload, options) = (settings::payload(payload)?, new.options()?);
            let mut skipped = Vec::new();
            let seen = source.read(settings, &resources, (&progress, client), |inputs| {
                let settings = IndexSettings::counted(spec, inputs, similarity)?;
                let settings = new.made(settings)?;
                let payload = (payload, dump);
                let mut skip = |line: &[u8]| {
                    skipped.extend_from_slice(line);
                    Ok(())
                };
                Seen::build_inputs(&directory, settings, &options, inputs, payload, &mut skip)
            })?;
            let seen = open::shared(&directory, false, || Ok(seen.0))?;
            Ok((seen, skipped))
        })?;
        Ok((SeenIndex::of(directory, seen), PyBytes::new(py, &skipped)))
    }

    /// Looks documents up, and adds them if `adds`. Returns a JSON line for each, and those of
    /// skipped ones.
    #[pyo3(signature = (source, adds, limit = 10, payload = None, dump = "", watch = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn process<'py>(
        &self,
        py: Python<'py>,
        source: Source,
        adds: bool,
        limit: usize,
        payload: Option<&str>,
        dump: &str,
        watch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Lines<'py>> {
        let seen = self.seen()?;
        let progress = Arc::new(Progress::new());
        let (lines, skipped) = job::run(py, &progress, watch.as_ref(), |client| {
            within("limit", limit, 10_000)?;
            let payload = settings::payload(payload)?;
            let settings = seen.settings();
            let settings = InputSettings {
                reading: source.reading(settings.html, settings.keep_fields())?,
                tokenizer: settings.tokenizer,
                stop_words: settings.stop_words.clone(),
            };
            let resources = source.resources(&self.directory)?;
            let (mut lines, mut skipped) = (Vec::new(), Vec::new());
            source.read(settings, &resources, (&progress, client), |inputs| {
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
                        seen.add_inputs(inputs, (payload, dump), listing, &mut skip)
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
            let mut raw = RawText::new(seen.settings().html);
            let facts = texts.read(raw.of_string(&text));
            let answers = seen.index().seen(&[facts.entry()], limit)?;
            let message = "the index did not answer";
            let missing = || Error::new(ErrorKind::Content, message);
            let answer = answers.first().ok_or_else(missing)?;
            let matches = serde_json::to_string(&seen.near(answer)?).unwrap_or_default();
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

    /// Removes a dump; returns the numbers of its documents, and of copies of these that are kept now.
    fn remove_dump(&self, py: Python<'_>, label: &str) -> PyResult<(u64, u64)> {
        let seen = self.seen()?;
        let removed = py.detach(|| seen.index().remove_dump(label));
        let removed = removed.map_err(|error| exception(&error))?;
        Ok((removed.documents, removed.kept_now))
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

    /// Facts about the index.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let seen = self.seen()?;
        let (info, settings) = (seen.index().info(), seen.settings());
        let bytes: u64 = info.segments.iter().map(|(.., bytes)| bytes).sum();
        let facts = PyDict::new(py);
        facts.set_item("method", settings.spec.to_string())?;
        facts.set_item("tokenizer", settings.tokenizer.name())?;
        facts.set_item("html", settings::html_name(settings.html))?;
        facts.set_item("layout", settings::layout_name(info.layout))?;
        facts.set_item("documents", info.documents)?;
        facts.set_item("removed", info.removed)?;
        facts.set_item("recent", info.recent)?;
        facts.set_item("segments", info.segments.len())?;
        facts.set_item("bytes", bytes)?;
        facts.set_item("similarity", settings.similarity())?;
        facts.set_item("estimated", settings.estimates())?;
        facts.set_item("dumps", info.dumps)?;
        facts.set_item("keep", settings.keep.to_string())?;
        Ok(facts)
    }

    /// Merges the index into one segment, without removed documents.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let seen = self.seen()?;
        let progress = Arc::new(Progress::new());
        job::run(py, &progress, None, |_| {
            seen.index().compact_checked(&mut || progress.check())
        })
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
