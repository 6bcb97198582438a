//! A step of one task, by its name.

use std::path::Path;

use arrow_array::RecordBatch;
use simtool_core::{Error, ErrorKind, Result};

use crate::candidates::{Counts, First, Frequent, Keys, Listed, Pairs, Prefix, Sample, near};
use crate::decisions::{Refusals, Settle, Union, Verify};
use crate::settings::Settings;
use crate::sketches::{Leaders, Number, SetReader, Sketch};
use crate::step::Step;

/// A step of one task. Of a job, all tasks of a step have the same name and settings.
pub struct Task(Box<dyn Step>);

impl Task {
    /// The step of a name, with [`Settings`] as JSON. `extra` is for the steps `hot` and `prefix`: the
    /// frequent elements, 8 bytes each, little-endian, the most frequent one last. What does not fit
    /// into memory is in files in `temporary`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for settings, and for an unknown name.
    pub fn new(name: &str, settings: &str, extra: &[u8], temporary: &Path) -> Result<Task> {
        let settings = Settings::parse(settings)?;
        Ok(Task(match name {
            "sketch" => Box::new(Sketch::new(settings)?),
            "leaders" => Box::new(Leaders::new(&settings)),
            "number" => Box::new(Number::default()),
            "keys" => Box::new(Keys::new(settings)?),
            "near" => near(&settings, temporary)?,
            "listed" => Box::new(Listed::new(&settings)),
            "sets" => Box::new(SetReader::new(settings)?),
            "elements" => Box::new(Sample::new(&settings)),
            "frequent" => Box::new(Frequent::new(&settings, temporary)),
            "hot" => Box::new(Counts::new(&settings, extra)),
            "prefix" => Box::new(Prefix::new(&settings, extra)),
            "pairs" => Box::new(Pairs::new(&settings, temporary)),
            "first" => Box::new(First::new(settings.most)),
            "verify" => Box::new(Verify::new(settings)?),
            "settle" => Box::new(Settle::default()),
            "union" => Box::new(Union::default()),
            "refusals" => Box::new(Refusals::new(settings)?),
            _ => {
                let message = format!("there is no step {name}");
                return Err(Error::new(ErrorKind::Parameter, message));
            }
        }))
    }

    /// Takes rows.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for rows that are out of order or lack a column; errors of files.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.push(batch)
    }

    /// Says that the last rows were taken.
    ///
    /// # Errors
    /// As of [`push`](Self::push).
    pub fn end(&mut self) -> Result<()> {
        self.0.end()
    }

    /// The next rows of the result; `None` if it needs more input. To be called until then after each
    /// [`push`](Self::push) and after [`end`](Self::end).
    ///
    /// # Errors
    /// As of [`push`](Self::push).
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.0.take()
    }
}
