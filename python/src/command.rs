//! The command line, in this process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use simtool::corpus::Source;
use simtool::engine::Progress;
use simtool::{Result, program};

use crate::error::exception;
use crate::job;
use crate::tables::rows::{RowColumns, source, write_objects, write_table};
use crate::tables::table::Table;

/// Runs the command line `words`, the first of which is the name of the program, and returns its
/// exit code. Handles signals; for a process that does nothing else.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| program::main(words))
}

/// Runs `simtool dedup`, `evaluate` or `tune` with the flags of `words`, without printing anything,
/// and returns its result as JSON. `watch` is called with the stage, the work done and the work to
/// do. `tables` are inputs in memory: their names in `words`, tables, and columns.
#[pyfunction]
#[pyo3(signature = (words, watch = None, tables = Vec::new()))]
pub fn call<'py>(
    py: Python<'py>,
    words: Vec<OsString>,
    watch: Option<Bound<'py, PyAny>>,
    tables: Vec<(PathBuf, Bound<'py, Table>, RowColumns)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let progress = Arc::new(Progress::new());
    let tables = tables.iter();
    let tables: Vec<_> = tables
        .map(|(name, table, columns)| (name, table.get(), columns))
        .collect();
    let json = job::run(py, &progress, watch.as_ref(), |client| {
        let rows = tables.into_iter();
        let rows = rows.map(|(name, table, columns)| source(name, table, columns));
        let rows: Vec<Source> = rows.collect::<Result<_>>()?;
        program::call(words, &rows, &progress, client)
    })?;
    Ok(PyBytes::new(py, &json))
}

/// Writes the rows of a table, or a list of texts or dictionaries, to the new file `path` as JSON
/// Lines.
#[pyfunction]
#[pyo3(signature = (data, path, columns, threads = None))]
pub fn write_rows(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    path: PathBuf,
    columns: RowColumns,
    threads: Option<usize>,
) -> PyResult<()> {
    let Ok(table) = data.cast::<Table>() else {
        return write_objects(&path, data.cast::<PyList>()?, &columns);
    };
    let table = table.get();
    let threads = job::threads(threads).map_err(|error| exception(&error))?;
    let progress = Arc::new(Progress::new());
    job::run(py, &progress, None, |_| {
        job::in_pool(threads, || {
            write_table(&path, &table.schema, &table.batches, &columns, &progress)
        })
    })
}

/// Fails as a panic does, for tests.
#[cfg(feature = "tests")]
#[pyfunction]
pub fn panic(py: Python<'_>) -> PyResult<()> {
    let progress = Arc::new(Progress::new());
    job::run(py, &progress, None, |_| {
        job::in_pool(2, || {
            rayon::join(|| (), || panic!("on purpose"));
            Ok(())
        })
    })
}
