//! Tables for Python: what the package returns, and data of other libraries without copies.

use std::ffi::CStr;
use std::sync::Arc;

use crate::tables::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString, PyType};
use simtool::corpus::parquet::value_text;

use super::columns::{check, readable_column};
use super::{import, ipc};
use crate::error::exception;

const STREAM: &CStr = c"arrow_array_stream";

/// A table in the memory format of Arrow.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct Table {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Table {
        Table {
            schema: batch.schema(),
            batches: vec![batch],
        }
    }
}

impl Table {
    /// The batch with a row, and the number of the row in it.
    fn find(&self, mut row: usize) -> PyResult<(&RecordBatch, usize)> {
        for batch in &self.batches {
            match row.checked_sub(batch.num_rows()) {
                Some(rest) => row = rest,
                None => return Ok((batch, row)),
            }
        }
        Err(PyIndexError::new_err("there is no such row"))
    }

    /// The same table with another column at a place, an array for each batch.
    ///
    /// # Errors
    /// `simtool_dedup.Error` for arrays of other lengths.
    pub fn with_column(&self, place: usize, arrays: Vec<ArrayRef>) -> PyResult<Table> {
        let mut fields: Vec<FieldRef> = self.schema.fields().iter().cloned().collect();
        if let Some(array) = arrays.first() {
            let field = fields[place].as_ref().clone();
            fields[place] = Arc::new(field.with_data_type(array.data_type().clone()));
        }
        let schema = Schema::new_with_metadata(fields, self.schema.metadata().clone());
        let schema = Arc::new(schema);
        let batches = self.batches.iter().zip(arrays).map(|(batch, array)| {
            let mut columns = batch.columns().to_vec();
            columns[place] = array;
            RecordBatch::try_new(Arc::clone(&schema), columns)
        });
        let batches = batches.collect::<Result<_, _>>().map_err(import::arrow)?;
        Ok(Table { schema, batches })
    }
}

#[pymethods]
impl Table {
    /// Shares the memory of an object with the Arrow PyCapsule interface; reads the bytes of an IPC
    /// stream of Arrow.
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (schema, batches) = match data.cast::<PyBytes>() {
            Ok(bytes) => ipc::read(bytes.as_bytes()).map_err(import::arrow)?,
            Err(_) => import::batches(data)?,
        };
        Ok(Table { schema, batches })
    }

    /// For pickle: the class, and the table as an IPC stream of Arrow.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let bytes = ipc::written(&self.schema, &self.batches).map_err(import::arrow)?;
        Ok((py.get_type::<Table>(), (PyBytes::new(py, &bytes),)))
    }

    /// The table itself, as it cannot be changed.
    fn __copy__(slf: Bound<'_, Table>) -> Bound<'_, Table> {
        slf
    }

    /// The table itself, as it cannot be changed.
    fn __deepcopy__<'py>(slf: Bound<'py, Table>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Table> {
        slf
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore it: the consumer converts what it gets.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, STREAM)
    }

    /// The rows for which `mask` has a byte that is not zero.
    fn filter(&self, mask: &[u8]) -> PyResult<Table> {
        let mut first = 0;
        let filtered = self.batches.iter().map(|batch| {
            let end = first + batch.num_rows();
            let part = mask.get(first..end).unwrap_or_default();
            first = end;
            let part: BooleanArray = part.iter().map(|byte| Some(*byte != 0)).collect();
            filter_record_batch(batch, &part)
        });
        let batches = filtered.collect::<Result<_, _>>().map_err(import::arrow)?;
        Ok(Table {
            schema: self.schema.clone(),
            batches,
        })
    }

    /// The rows of these numbers, in this order.
    fn take(&self, rows: Vec<u64>) -> PyResult<Table> {
        let all = arrow_select::concat::concat_batches(&self.schema, &self.batches);
        let all = all.map_err(import::arrow)?;
        let rows = arrow_array::UInt64Array::from(rows);
        let columns = all.columns().iter().map(|column| take(column, &rows, None));
        let columns = columns.collect::<Result<_, _>>().map_err(import::arrow)?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        Ok(batch.map_err(import::arrow)?.into())
    }

    /// Fails with the name of the `setting` if there is no column at a path.
    fn check(&self, setting: &str, path: &str) -> PyResult<()> {
        check(&self.schema, setting, path).map_err(|error| exception(&error))
    }

    /// The text at a path and row; `None` if it is null. Bytes that are not UTF-8 are replaced.
    fn text(&self, path: &str, row: usize) -> PyResult<Option<String>> {
        let (batch, row) = self.find(row)?;
        let no_column = || PyKeyError::new_err(path.to_owned());
        let found = readable_column(&batch.slice(row, 1), path).ok_or_else(no_column)?;
        let texts = Texts::of(&found).ok_or_else(no_column)?;
        let text = texts.get(0);
        Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
    }

    /// The value at a path and row; dates, times and other types as text.
    fn value<'py>(&self, py: Python<'py>, path: &str, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let (batch, row) = self.find(row)?;
        let found = readable_column(&batch.slice(row, 1), path);
        let found = found.ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
        value(py, &found, 0)
    }

    /// The first row whose value at a path is null or an empty text; `None` if there is none.
    fn first_missing(&self, path: &str) -> PyResult<Option<usize>> {
        let mut first = 0;
        for batch in &self.batches {
            let found =
                readable_column(batch, path).ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
            let texts = Texts::of(&found);
            let is_missing = |row: &usize| match &texts {
                Some(texts) => texts.get(*row).is_none_or(<[u8]>::is_empty),
                None => found.is_null(*row),
            };
            if let Some(row) = (0..found.len()).find(is_missing) {
                return Ok(Some(first + row));
            }
            first += found.len();
        }
        Ok(None)
    }

    /// The values of a column; dates, times and other types as texts.
    fn column<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(py);
        for batch in &self.batches {
            let found =
                readable_column(batch, path).ok_or_else(|| PyKeyError::new_err(path.to_owned()))?;
            for row in 0..found.len() {
                values.append(value(py, &found, row)?)?;
            }
        }
        Ok(values)
    }

    /// Each row as a `dict`; dates, times and other types as texts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let names: Vec<Bound<'py, PyString>> = self
            .schema
            .fields()
            .iter()
            .map(|field| PyString::intern(py, field.name()))
            .collect();
        for batch in &self.batches {
            let columns: Vec<ArrayRef> = self
                .column_names()
                .iter()
                .filter_map(|name| readable_column(batch, name))
                .collect();
            for row in 0..batch.num_rows() {
                let object = PyDict::new(py);
                for (name, column) in names.iter().zip(&columns) {
                    object.set_item(name, value(py, column, row)?)?;
                }
                rows.append(object)?;
            }
        }
        Ok(rows)
    }

    fn __repr__(&self) -> String {
        format!(
            "Table({} rows: {})",
            self.__len__(),
            self.column_names().join(", ")
        )
    }
}

/// A value as a Python object.
pub fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Int64 => array
            .as_primitive::<Int64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::UInt64 => array
            .as_primitive::<UInt64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Float64 => array
            .as_primitive::<Float64Type>()
            .value(row)
            .into_bound_py_any(py),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let texts = Texts::of(array);
            let bytes = texts.as_ref().and_then(|texts| texts.get(row));
            PyBytes::new(py, bytes.unwrap_or_default()).into_bound_py_any(py)
        }
        _ => {
            let text = match Texts::of(array) {
                Some(texts) => texts
                    .get(row)
                    .map(|text| String::from_utf8_lossy(text).into_owned()),
                None => value_text(array.as_ref(), row),
            };
            text.into_bound_py_any(py)
        }
    }
}

/// A batch of named columns.
///
/// # Errors
/// `simtool_dedup.Error` if their lengths differ.
pub fn batch(columns: Vec<(&str, ArrayRef)>) -> PyResult<RecordBatch> {
    let columns = columns.into_iter();
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(import::arrow)
}

/// A column of texts.
pub fn text_column(texts: impl IntoIterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(texts.into_iter().collect::<arrow_array::LargeStringArray>())
}
