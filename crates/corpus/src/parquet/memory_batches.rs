//! The reader of rows in memory, in bounded batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;

use super::documents::fields::Column;
use super::memory_rows::{MemoryRows, unusable};
use super::read::MAX_ROWS;
use crate::Result;
use crate::reading::Reading;

/// Batches of rows in memory with [`Reading::chunk_bytes`] of text each, one more text, or up to a
/// border of sections. They depend only on the rows and on the [`Reading`].
pub(super) struct MemoryBatches {
    rows: Arc<MemoryRows>,
    /// The next row.
    next: u64,
    sections: Vec<u64>,
    text: String,
    id: String,
    chunk_bytes: usize,
}

impl MemoryBatches {
    /// The rows from number `from` on, with these borders of sections.
    pub(super) fn new(
        rows: &Arc<MemoryRows>,
        from: u64,
        sections: Vec<u64>,
        reading: &Reading,
    ) -> MemoryBatches {
        MemoryBatches {
            rows: Arc::clone(rows),
            next: from,
            sections,
            text: reading.text_field.clone(),
            id: reading.id_field.clone(),
            chunk_bytes: reading.chunk_bytes,
        }
    }

    /// The number of all rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows.rows()
    }

    /// The number of the first row of the next batch, the bytes of its texts, and the batch.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for columns of which parts cannot be put together.
    pub(super) fn next(&mut self) -> Result<Option<(u64, usize, RecordBatch)>> {
        let first = self.next;
        let border = self.sections.iter().find(|border| **border > first);
        let end = border.map_or(self.rows.rows(), |border| *border);
        let end = end.min(first + MAX_ROWS);
        let (mut parts, mut bytes) = (Vec::new(), 0);
        while self.next < end && bytes < self.chunk_bytes {
            let Some(part) = self.rows.part(self.next, end) else {
                break;
            };
            let texts = Column::find(&part, &self.text);
            let mut count = 0;
            while count < part.num_rows() && bytes < self.chunk_bytes {
                bytes += texts.as_ref().map_or(0, |texts| texts.bytes(count));
                count += 1;
            }
            parts.push(part.slice(0, count));
            self.next += count as u64;
        }
        let batch = match &parts[..] {
            [] => return Ok(None),
            [whole] => whole.clone(),
            [part, ..] => concat_batches(&part.schema(), &parts).map_err(unusable)?,
        };
        Ok(Some((first, bytes, self.with_ids(first, batch)?)))
    }

    /// A batch whose first row has the number `first`, with the numbers of rows as ids if there are
    /// none.
    fn with_ids(&self, first: u64, batch: RecordBatch) -> Result<RecordBatch> {
        if Column::find(&batch, &self.id).is_some() {
            return Ok(batch);
        }
        let numbers = UInt64Array::from_iter_values(first..first + batch.num_rows() as u64);
        let schema = batch.schema();
        let own = schema.fields().iter().cloned();
        let fields = own.chain([Arc::new(Field::new(&self.id, DataType::UInt64, false))]);
        let columns = batch.columns().iter().cloned();
        let columns = columns.chain([Arc::new(numbers) as ArrayRef]).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
            .map_err(unusable)
    }
}
