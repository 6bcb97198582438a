//! How many sets have an element.

use std::path::Path;

use arrow_array::RecordBatch;
use simtool_core::Result;

use crate::columns::{Columns, Packer, ROWS, Unpacker, bytes, present};
use crate::numbers::{mixed, read_set};
use crate::settings::Settings;
use crate::step::Step;

/// The step `elements`: sets to their elements, in `parts` parts.
pub struct Sample {
    set: Vec<u64>,
    made: Packer,
}

impl Sample {
    /// The step.
    pub fn new(settings: &Settings) -> Sample {
        Sample {
            set: Vec::new(),
            made: Packer::new(settings.parts),
        }
    }
}

impl Step for Sample {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let sets = bytes(batch, "set")?;
        for row in 0..batch.num_rows() {
            read_set(present(&sets, row, "set")?, &mut self.set)?;
            for element in &self.set {
                self.made.add(mixed(*element), element);
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.made.end();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.made.take()
    }
}

/// The step `frequent`: the records of `elements`. Gives those that occur `least` times or more often,
/// with their counts.
pub struct Frequent {
    least: i64,
    records: Unpacker<u64>,
    current: Option<(u64, i64)>,
    made: (Vec<i64>, Vec<i64>),
}

impl Frequent {
    /// The step; records that do not fit into memory are in files in `temporary`.
    pub fn new(settings: &Settings, temporary: &Path) -> Frequent {
        Frequent {
            least: settings.least,
            records: Unpacker::new(temporary),
            current: None,
            made: Default::default(),
        }
    }

    fn finish(&mut self) {
        if let Some((element, count)) = self.current.take()
            && count >= self.least
        {
            self.made.0.push(element.cast_signed());
            self.made.1.push(count);
        }
    }
}

impl Step for Frequent {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.records.push(batch)
    }

    fn end(&mut self) -> Result<()> {
        self.records.end()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        while self.made.0.len() < ROWS {
            let Some(element) = self.records.next()? else {
                self.finish();
                break;
            };
            match &mut self.current {
                Some((current, count)) if *current == element => *count += 1,
                _ => {
                    self.finish();
                    self.current = Some((element, 1));
                }
            }
        }
        if self.made.0.is_empty() {
            return Ok(None);
        }
        let (elements, counts) = std::mem::take(&mut self.made);
        let columns = Columns::default().longs("element", elements);
        columns.longs("count", counts).batch().map(Some)
    }
}
