//! What all steps have in common.

use arrow_array::RecordBatch;
use simtool_core::Result;

/// A step: takes batches, gives batches.
pub trait Step: Send {
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
