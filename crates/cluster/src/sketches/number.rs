//! Numbers of the rows of a task, in order.

use arrow_array::RecordBatch;
use simtool_core::Result;

use crate::columns::{Columns, Order, bytes, column, present};
use crate::step::Step;

/// The step `number`: rows in keep order. Adds `place`, the number of each row in its partition.
#[derive(Default)]
pub struct Number {
    order: Order<Vec<u8>>,
    next: i64,
    made: Option<RecordBatch>,
}

impl Step for Number {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let sorts = bytes(batch, "sort")?;
        for row in 0..batch.num_rows() {
            self.order.next(present(&sorts, row, "sort")?.to_vec())?;
        }
        let end = self.next + batch.num_rows() as i64;
        let mut columns = Columns::default();
        for name in ["part", "doc", "sort", "reference", "sketch"] {
            columns = columns.same(name, column(batch, name)?);
        }
        columns = columns.longs("place", (self.next..end).collect());
        if let Some(masks) = batch.column_by_name("mask") {
            columns = columns.same("mask", masks);
        }
        self.made = Some(columns.batch()?);
        self.next = end;
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}
