//! Rows of reports as record batches of Arrow.

pub mod parquet_table;
pub mod report_batches;

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, GenericStringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, GenericStringArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use super::columns::{ColumnValue, Kind};

/// The maximum number of rows of a batch, which is held in memory.
pub(super) const ROWS: usize = 1 << 14;
/// The maximum number of bytes of text of a batch.
pub(super) const TEXT_BYTES: usize = 4 << 20;

/// Makes batches of rows. Texts have offsets of the type `O`.
///
/// Memory: a batch, and one row of any length.
pub struct BatchBuilder<O: OffsetSizeTrait> {
    columns: Vec<ColumnBuilder<O>>,
    schema: SchemaRef,
    rows: usize,
    text_bytes: usize,
}

/// The values of a column in a batch.
enum ColumnBuilder<O: OffsetSizeTrait> {
    Text(GenericStringBuilder<O>),
    Whole(UInt64Builder),
    Decimal(Float64Builder),
    Flag(BooleanBuilder),
}

impl<O: OffsetSizeTrait> BatchBuilder<O> {
    /// A builder for columns with these names and types, of which values may be missing or not.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Kind, bool)>) -> BatchBuilder<O> {
        let (fields, columns): (Vec<Field>, _) = columns
            .into_iter()
            .map(|(name, kind, may_lack)| {
                let mut column = ColumnBuilder::new(kind);
                let kind = column.finish().data_type().clone();
                (Field::new(name, kind, may_lack), column)
            })
            .unzip();
        BatchBuilder {
            columns,
            schema: Arc::new(Schema::new(fields)),
            rows: 0,
            text_bytes: 0,
        }
    }

    /// The names and types of the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds a row: a cell for each column, of its type.
    pub fn add<'a>(&mut self, cells: impl IntoIterator<Item = ColumnValue<'a>>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.text_bytes += column.append(cell);
        }
        self.rows += 1;
    }

    /// Whether the batch has no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether the batch has the maximum number of rows or of bytes of text.
    pub fn is_full(&self) -> bool {
        self.rows >= ROWS || self.text_bytes >= TEXT_BYTES
    }

    /// The rows since the last batch.
    ///
    /// # Errors
    /// For a missing value in a column without them.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        (self.rows, self.text_bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish);
        RecordBatch::try_new(self.schema.clone(), columns.collect())
    }
}

impl<O: OffsetSizeTrait> ColumnBuilder<O> {
    fn new(kind: Kind) -> ColumnBuilder<O> {
        match kind {
            Kind::Text => ColumnBuilder::Text(GenericStringBuilder::new()),
            Kind::Whole => ColumnBuilder::Whole(UInt64Builder::new()),
            Kind::Decimal => ColumnBuilder::Decimal(Float64Builder::new()),
            Kind::Flag => ColumnBuilder::Flag(BooleanBuilder::new()),
        }
    }

    /// Appends a cell; returns its number of bytes of text.
    fn append(&mut self, cell: ColumnValue<'_>) -> usize {
        match (self, cell) {
            (ColumnBuilder::Text(column), ColumnValue::Text(text)) => {
                let bytes = text.as_ref().map_or(0, |text| text.len());
                column.append_option(text);
                return bytes;
            }
            (ColumnBuilder::Whole(column), ColumnValue::Whole(value)) => {
                column.append_option(value)
            }
            (ColumnBuilder::Decimal(column), ColumnValue::Decimal(value)) => {
                column.append_option(value)
            }
            (ColumnBuilder::Flag(column), ColumnValue::Flag(value)) => column.append_option(value),
            // Cells have the types of their columns.
            (ColumnBuilder::Text(column), _) => column.append_null(),
            (ColumnBuilder::Whole(column), _) => column.append_null(),
            (ColumnBuilder::Decimal(column), _) => column.append_null(),
            (ColumnBuilder::Flag(column), _) => column.append_null(),
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            ColumnBuilder::Text(column) => {
                let texts: GenericStringArray<O> = column.finish();
                Arc::new(texts)
            }
            ColumnBuilder::Whole(column) => Arc::new(column.finish()),
            ColumnBuilder::Decimal(column) => Arc::new(column.finish()),
            ColumnBuilder::Flag(column) => Arc::new(column.finish()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};

    /// The cell of a column in a row.
    pub fn cell<O: OffsetSizeTrait>(
        column: &ArrayRef,
        kind: Kind,
        row: usize,
    ) -> ColumnValue<'static> {
        let has = column.is_valid(row);
        match kind {
            Kind::Text => {
                let text = column.as_string::<O>().value(row).to_owned();
                ColumnValue::Text(has.then(|| text.into()))
            }
            Kind::Whole => {
                let number = column.as_primitive::<UInt64Type>().value(row);
                ColumnValue::Whole(has.then_some(number))
            }
            Kind::Decimal => {
                let number = column.as_primitive::<Float64Type>().value(row);
                ColumnValue::Decimal(has.then_some(number))
            }
            Kind::Flag => ColumnValue::Flag(has.then_some(column.as_boolean().value(row))),
        }
    }
}
