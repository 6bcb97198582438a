//! A step of a task, for Python.

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use simtool::{Error, ErrorKind, Result};

use super::settings::Settings;
use super::{
    elements, first, keys, leaders, listed, near, number, pairs, prefix, refusals, sets, settle,
    sketch, union, verify,
};
use crate::error::exception;
use crate::import;
use crate::table::Table;

/// A step: takes batches, gives batches.
pub trait Stage: Send {
    /// Takes rows.
    ///
    /// # Errors
    /// Errors of the step; rows that are out of order.
    fn push(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Called after the last rows.
    ///
    /// # Errors
    /// Errors of the step.
    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    /// The next rows of the result; `None` if it needs more input. Called until then after each
    /// [`push`](Self::push) and after [`end`](Self::end).
    ///
    /// # Errors
    /// Errors of the step.
    fn take(&mut self) -> Result<Option<RecordBatch>>;
}

fn stage(name: &str, settings: &str, extra: &[u8]) -> Result<Box<dyn Stage>> {
    let settings = Settings::parse(settings)?;
    Ok(match name {
        "sketch" => Box::new(sketch::Sketch::new(settings)?),
        "leaders" => Box::new(leaders::Leaders::new(&settings)),
        "number" => Box::new(number::Number::default()),
        "keys" => Box::new(keys::Keys::new(settings)?),
        "near" => near::near(&settings)?,
        "listed" => Box::new(listed::Listed::new(&settings)),
        "sets" => Box::new(sets::SetReader::new(settings)?),
        "elements" => Box::new(elements::Sample::new(&settings)),
        "frequent" => Box::new(elements::Frequent::new(&settings)),
        "hot" => Box::new(prefix::Counts::new(&settings, extra)),
        "prefix" => Box::new(prefix::Prefix::new(&settings, extra)),
        "pairs" => Box::new(pairs::Pairs::new(&settings)),
        "first" => Box::new(first::First::new(settings.most)),
        "verify" => Box::new(verify::Verify::new(settings)?),
        "settle" => Box::new(settle::Settle::default()),
        "union" => Box::new(union::Union::default()),
        "refusals" => Box::new(refusals::Refusals::new(settings)?),
        _ => {
            let message = format!("there is no step {name}");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
    })
}

/// A step of one task.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct SparkTask(Mutex<Box<dyn Stage>>);

impl SparkTask {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Stage) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut stage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut **stage)
        });
        done.map_err(|error| exception(&error))
    }
}

#[pymethods]
impl SparkTask {
    /// The step of a name, with settings as JSON and perhaps further bytes.
    #[new]
    #[pyo3(signature = (name, settings, extra = None))]
    fn new(name: &str, settings: &str, extra: Option<&[u8]>) -> PyResult<SparkTask> {
        let made = stage(name, settings, extra.unwrap_or_default());
        Ok(SparkTask(Mutex::new(
            made.map_err(|error| exception(&error))?,
        )))
    }

    /// Takes a batch with the Arrow PyCapsule interface.
    fn push(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, batches) = import::batches(batch)?;
        self.with(py, |stage| {
            batches.iter().try_for_each(|batch| stage.push(batch))
        })
    }

    /// The last batch was taken.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |stage| stage.end())
    }

    /// The next rows of the result, or `None`.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let taken = self.with(py, |stage| stage.take())?;
        Ok(taken.map(Table::from))
    }
}

/// What the driver has to know about settings, as JSON; checks them.
#[pyfunction]
pub fn describe(settings: &str) -> PyResult<String> {
    let described = Settings::parse(settings).and_then(|settings| settings.describe());
    described.map_err(|error| exception(&error))
}
