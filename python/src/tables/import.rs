//! Tables and columns of other libraries, through the Arrow PyCapsule interface.
//!
//! Buffers are shared with the exporting library, not copied.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::Error;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The name of the column of data that is a single column.
pub const ONLY_COLUMN: &str = "text";

/// The batches of an object with `__arrow_c_stream__` or `__arrow_c_array__`. A single column
/// becomes a table with the column [`ONLY_COLUMN`].
///
/// # Errors
/// `TypeError` for other objects; the errors of the exporting library.
pub fn batches(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let (field, arrays) = if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        read_stream(object.py(), capsule.cast::<PyCapsule>()?)?
    } else if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        let pair = pair.cast::<PyTuple>()?;
        let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
        read_array(schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?)?
    } else {
        let message = format!(
            "{} has no Arrow PyCapsule interface",
            object.get_type().name()?
        );
        return Err(PyTypeError::new_err(message));
    };
    table(&field, arrays).map_err(arrow)
}

/// Arrays of one type as batches of a table.
fn table(
    field: &Field,
    arrays: Vec<ArrayRef>,
) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let DataType::Struct(fields) = field.data_type() else {
        let column = Field::new(ONLY_COLUMN, field.data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![column]));
        let batch = |array| RecordBatch::try_new(Arc::clone(&schema), vec![array]);
        let batches = arrays.into_iter().map(batch).collect::<Result<_, _>>()?;
        return Ok((schema, batches));
    };
    let schema = Arc::new(Schema::new(fields.clone()));
    let batch = |array: ArrayRef| {
        let rows = StructArray::from(array.to_data());
        match rows.null_count() {
            0 => Ok(RecordBatch::from(rows)),
            _ => {
                let message = "rows that are null: expected a table".to_owned();
                Err(ArrowError::InvalidArgumentError(message))
            }
        }
    };
    let batches = arrays.into_iter().map(batch).collect::<Result<_, _>>()?;
    Ok((schema, batches))
}

fn read_stream(py: Python<'_>, capsule: &Bound<'_, PyCapsule>) -> PyResult<(Field, Vec<ArrayRef>)> {
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: the interface says that a capsule of this name holds a valid stream, which the
    // consumer may move out; the capsule is alive.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema(), stream.get_next()) else {
        return Err(Error::new_err("the Arrow stream was read before"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is valid and not released, and `schema` may be written.
    let code = unsafe { get_schema(&mut stream, &mut schema) };
    checked(code, &mut stream)?;
    let field = Field::try_from(&schema).map_err(arrow)?;
    let mut arrays = Vec::new();
    loop {
        py.check_signals()?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is valid and not released, and `array` may be written.
        let code = unsafe { get_next(&mut stream, &mut array) };
        checked(code, &mut stream)?;
        if array.is_released() {
            return Ok((field, arrays));
        }
        arrays.push(imported(array, field.data_type())?);
    }
}

fn read_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyResult<(Field, Vec<ArrayRef>)> {
    let schema = schema.pointer_checked(Some(SCHEMA))?;
    // SAFETY: a capsule of this name holds a valid schema, which lives as long as the capsule.
    let schema: &FFI_ArrowSchema = unsafe { schema.cast().as_ref() };
    let field = Field::try_from(schema).map_err(arrow)?;
    let array = array.pointer_checked(Some(ARRAY))?;
    // SAFETY: a capsule of this name holds a valid array, which the consumer may move out.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast().as_ptr()) };
    let array = imported(array, field.data_type())?;
    Ok((field, vec![array]))
}

/// An array of the interface, whose buffers it shares.
fn imported(array: FFI_ArrowArray, data_type: &DataType) -> PyResult<ArrayRef> {
    // SAFETY: the exporting library says that the array is valid and of this type.
    let mut data = unsafe { from_ffi_and_data_type(array, data_type.clone()) }.map_err(arrow)?;
    data.align_buffers();
    Ok(make_array(data))
}

/// Fails with the last error of the stream unless `code` is 0.
fn checked(code: i32, stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    let text = stream.get_last_error().and_then(|last| {
        // SAFETY: the stream is valid.
        let text = unsafe { last(stream) };
        if text.is_null() {
            return None;
        }
        // SAFETY: a text that is not null ends in a zero byte, and lives until the next call.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    });
    let text = text.unwrap_or_else(|| format!("error {code} of the Arrow stream"));
    Err(Error::new_err(text))
}

/// The exception for an error of Arrow.
pub fn arrow(error: ArrowError) -> PyErr {
    Error::new_err(error.to_string())
}
