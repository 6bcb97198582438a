//! Columns of record batches by name, and batches from columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
};
use simtool_core::{Error, ErrorKind, Result};

use super::texts::Texts;

/// The rows after which a batch of results is complete.
pub const ROWS: usize = 1 << 14;

/// An error about the data of a task.
pub fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Content, message.into())
}

/// The column `name`.
///
/// # Errors
/// [`ErrorKind::Content`] if there is none.
pub fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef> {
    let missing = || damaged(format!("a step of the job lacks its column {name}"));
    batch.column_by_name(name).ok_or_else(missing)
}

/// The numbers of a column, which has no nulls.
///
/// # Errors
/// [`ErrorKind::Content`] for another type, and for nulls.
pub fn longs<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b [i64]> {
    let array = optional_longs(batch, name)?;
    match array.null_count() {
        0 => Ok(array.values()),
        _ => Err(damaged(format!("the column {name} has a null"))),
    }
}

/// The numbers of a column.
///
/// # Errors
/// [`ErrorKind::Content`] for another type.
pub fn optional_longs<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int64Array> {
    let array = column(batch, name)?;
    let found = array.as_primitive_opt::<Int64Type>();
    found.ok_or_else(|| other_type(name, array))
}

/// The numbers of a column, which has no nulls; `None` if there is no such column.
///
/// # Errors
/// [`ErrorKind::Content`] for another type, and for nulls.
pub fn optional<'b>(batch: &'b RecordBatch, name: &str) -> Result<Option<&'b [i64]>> {
    match batch.column_by_name(name) {
        Some(_) => longs(batch, name).map(Some),
        None => Ok(None),
    }
}

/// The numbers of a column of 32 bits.
///
/// # Errors
/// [`ErrorKind::Content`] for another type.
pub fn ints<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int32Array> {
    let array = column(batch, name)?;
    let found = array.as_primitive_opt::<Int32Type>();
    found.ok_or_else(|| other_type(name, array))
}

/// The flags of a column.
///
/// # Errors
/// [`ErrorKind::Content`] for another type.
pub fn flags<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b BooleanArray> {
    let array = column(batch, name)?;
    array
        .as_boolean_opt()
        .ok_or_else(|| other_type(name, array))
}

/// The bytes of a column.
///
/// # Errors
/// [`ErrorKind::Content`] for another type.
pub fn bytes(batch: &RecordBatch, name: &str) -> Result<Texts> {
    let array = column(batch, name)?;
    Texts::of(array).ok_or_else(|| other_type(name, array))
}

/// The bytes of a row that must not be null.
///
/// # Errors
/// [`ErrorKind::Content`] for a null.
pub fn present<'t>(texts: &'t Texts, row: usize, name: &str) -> Result<&'t [u8]> {
    let missing = || damaged(format!("the column {name} has a null"));
    texts.get(row).ok_or_else(missing)
}

fn other_type(name: &str, array: &ArrayRef) -> Error {
    damaged(format!(
        "the column {name} has the type {}",
        array.data_type()
    ))
}

/// Columns of a batch of results.
#[derive(Default)]
pub struct Columns(Vec<(&'static str, ArrayRef)>);

impl Columns {
    /// Adds numbers.
    pub fn longs(mut self, name: &'static str, values: Vec<i64>) -> Columns {
        self.0.push((name, Arc::new(Int64Array::from(values))));
        self
    }

    /// Adds numbers that may be missing.
    pub fn optional_longs(mut self, name: &'static str, values: Vec<Option<i64>>) -> Columns {
        self.0.push((name, Arc::new(Int64Array::from(values))));
        self
    }

    /// Adds numbers of 32 bits.
    pub fn ints(mut self, name: &'static str, values: Vec<i32>) -> Columns {
        self.0.push((name, Arc::new(Int32Array::from(values))));
        self
    }

    /// Adds decimal numbers that may be missing.
    pub fn doubles(mut self, name: &'static str, values: Vec<Option<f64>>) -> Columns {
        self.0.push((name, Arc::new(Float64Array::from(values))));
        self
    }

    /// Adds flags.
    pub fn flags(mut self, name: &'static str, values: Vec<bool>) -> Columns {
        self.0.push((name, Arc::new(BooleanArray::from(values))));
        self
    }

    /// Adds bytes that may be missing.
    pub fn bytes(mut self, name: &'static str, values: &[Option<Vec<u8>>]) -> Columns {
        let values = values.iter().map(Option::as_deref);
        self.0
            .push((name, Arc::new(values.collect::<BinaryArray>())));
        self
    }

    /// Adds a column of the input.
    pub fn same(mut self, name: &'static str, array: &ArrayRef) -> Columns {
        self.0.push((name, array.clone()));
        self
    }

    /// The batch.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the lengths differ.
    pub fn batch(self) -> Result<RecordBatch> {
        let columns = self
            .0
            .into_iter()
            .map(|(name, column)| (name, column, true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|cause| damaged(cause.to_string()))
    }
}

/// Checks that rows arrive in order.
#[derive(Default)]
pub struct Order<T>(Option<T>);

impl<T: PartialOrd> Order<T> {
    /// Takes the place of the next row.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it is before the last one.
    pub fn next(&mut self, place: T) -> Result<()> {
        if self.0.as_ref().is_some_and(|last| place < *last) {
            return Err(damaged(
                "rows of a partition are out of order: the engine does not preserve the order of \
                 sortWithinPartitions (pass sort=\"task\", so that each task sorts its rows)",
            ));
        }
        self.0 = Some(place);
        Ok(())
    }
}
