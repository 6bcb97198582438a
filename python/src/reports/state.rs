//! The state of results, from which pickle makes them again: tables and names.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_select::concat::concat_batches;
use pyo3::prelude::*;

use super::RowReport;
use crate::tables::ids::Document;
use crate::tables::import::arrow;
use crate::tables::table::{Table, batch, text_column};

/// The columns of a report's table, those of them with documents, and a table with both, the documents
/// first, as texts.
pub type State<T> = (Vec<String>, Vec<String>, T);
/// What `__reduce__` returns: a function and its argument.
pub type Reduced<'py, T> = (Bound<'py, PyAny>, (T,));

/// What `__reduce__` returns for the function `name`.
///
/// # Errors
/// Python's, if there is no such function.
pub fn reduced<'py, T>(py: Python<'py>, name: &str, state: T) -> PyResult<Reduced<'py, T>> {
    let function = py.import("simtool_dedup._simtool")?.getattr(name)?;
    Ok((function, (state,)))
}

/// The state of a report.
///
/// # Errors
/// `simtool_dedup.Error` for columns that are no table.
pub fn of(report: &RowReport) -> PyResult<State<Table>> {
    let encoded = |documents: &[Document]| text_column(documents.iter().map(Document::encode));
    let documents = report.documents.iter();
    let documents = documents.map(|(name, documents)| (name.clone(), encoded(documents)));
    let schema = report.columns.schema();
    let others = schema.fields().iter().zip(report.columns.columns());
    let others = others.map(|(field, column)| (field.name().clone(), column.clone()));
    let columns: Vec<(String, ArrayRef)> = documents.chain(others).collect();
    let columns = columns.iter();
    let columns = columns.map(|(name, column)| (name.as_str(), column.clone()));
    let names = report.documents.iter().map(|(name, _)| name.clone());
    let table = batch(columns.collect())?.into();
    Ok((report.names.clone(), names.collect(), table))
}

/// The report of a state.
///
/// # Errors
/// `simtool_dedup.Error` for a table of another form.
pub fn restored((names, documents, table): State<Bound<'_, Table>>) -> PyResult<RowReport> {
    let table = table.get();
    let all = concat_batches(&table.schema, &table.batches).map_err(arrow)?;
    let decoded = documents.into_iter().zip(all.columns());
    let decoded = decoded.map(|(name, column)| {
        let texts = column.as_string::<i64>().iter();
        (name, texts.map(Document::decode).collect())
    });
    let documents: Vec<(String, Vec<Document>)> = decoded.collect();
    let others: Vec<usize> = (documents.len()..all.num_columns()).collect();
    Ok(RowReport {
        names,
        documents,
        columns: all.project(&others).map_err(arrow)?,
    })
}
