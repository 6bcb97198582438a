//! The steps of a Spark job and the documents of a file, for the workers of a cluster.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use simtool::Result;
use simtool_cluster::{FileDocuments as Documents, ReadSettings, Settings, Task};

use crate::error::exception;
use crate::tables::import;
use crate::tables::table::Table;

/// A step of one task.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct SparkTask(Mutex<Task>);

#[pymethods]
impl SparkTask {
    /// The step of a name, with settings as JSON and perhaps further bytes.
    #[new]
    #[pyo3(signature = (name, settings, extra = None))]
    fn new(name: &str, settings: &str, extra: Option<&[u8]>) -> PyResult<SparkTask> {
        let made = Task::new(name, settings, extra.unwrap_or_default(), &temporary());
        made.map(|task| SparkTask(Mutex::new(task)))
            .map_err(|error| exception(&error))
    }

    /// Takes a batch with the Arrow PyCapsule interface.
    fn push(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, batches) = import::batches(batch)?;
        detached(py, &self.0, |task| {
            batches.iter().try_for_each(|batch| task.push(batch))
        })
    }

    /// The last batch was taken.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, &self.0, Task::end)
    }

    /// The next rows of the result, or `None`.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        detached(py, &self.0, Task::take).map(table)
    }
}

/// What the driver has to know about settings, as JSON; checks them.
#[pyfunction]
pub fn describe(settings: &str) -> PyResult<String> {
    let described = Settings::parse(settings).and_then(|settings| settings.describe());
    described.map_err(|error| exception(&error))
}

/// The documents of a file as batches.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct FileDocuments(Mutex<Documents>);

/// Opens a file, whose number is `file` and whose documents without an id are named after `name`.
/// `settings` is JSON: the format, the fields and the part of HTML pages.
///
/// # Errors
/// `OSError` if it cannot be read; `ValueError` for settings.
#[pyfunction]
pub fn read_file(
    path: PathBuf,
    name: PathBuf,
    file: i64,
    settings: &str,
) -> PyResult<FileDocuments> {
    let settings = ReadSettings::parse(settings);
    let opened = settings.and_then(|settings| Documents::open(&path, name, file, settings));
    opened
        .map(|documents| FileDocuments(Mutex::new(documents)))
        .map_err(|error| exception(&error))
}

#[pymethods]
impl FileDocuments {
    /// The next documents, or `None`.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        detached(py, &self.0, Documents::take).map(table)
    }
}

/// Works without the interpreter.
fn detached<T: Send, R: Send>(
    py: Python<'_>,
    shared: &Mutex<T>,
    work: impl FnOnce(&mut T) -> Result<R> + Send,
) -> PyResult<R> {
    let done = py.detach(|| work(&mut shared.lock().unwrap_or_else(PoisonError::into_inner)));
    done.map_err(|error| exception(&error))
}

fn table(batch: Option<RecordBatch>) -> Option<Table> {
    batch.map(Table::from)
}

/// Where a worker may write: the directories that Spark names, or the usual one.
fn temporary() -> PathBuf {
    let named = std::env::var_os("SPARK_LOCAL_DIRS");
    let first = named.and_then(|named| {
        let text = named.to_str()?;
        let first = text.split(',').next().filter(|path| !path.is_empty())?;
        Some(PathBuf::from(first)).filter(|path| path.is_dir())
    });
    first.unwrap_or_else(std::env::temp_dir)
}
