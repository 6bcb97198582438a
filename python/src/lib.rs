//! The Rust part of the Python package `simtool_dedup`.
//!
//! Everything that takes long runs in threads of its own without the interpreter, and is stopped by
//! Ctrl-C ([`job`]). Rows of data frames become temporary files of JSON Lines ([`rows`]), which the
//! command's own code processes ([`command`]), so that the answers are those of the command. The library
//! returns its reports as record batches of Arrow ([`reports`]).

mod answers;
mod columns;
mod command;
mod error;
mod explain;
mod ids;
mod import;
mod index;
mod index_settings;
mod job;
mod json;
mod neighbours;
mod pairs;
mod passages;
mod reports;
mod result;
mod rows;
mod sketches;
mod spark;
mod table;

use pyo3::prelude::*;

/// The Rust part of `simtool_dedup`; its functions are private to that package.
#[pymodule(gil_used = false)]
mod _simtool {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::answers::read_answers;
    #[cfg(feature = "tests")]
    #[pymodule_export]
    use crate::command::panic;
    #[pymodule_export]
    use crate::command::{call, main, write_rows};
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::explain::{explain, page_text, shared_shingles};
    #[pymodule_export]
    use crate::index::SeenIndex;
    #[pymodule_export]
    use crate::neighbours::neighbours;
    #[pymodule_export]
    use crate::passages::PassageRows;
    #[pymodule_export]
    use crate::reports::read_report;
    #[pymodule_export]
    use crate::result::{RowResult, text_at};
    #[pymodule_export]
    use crate::sketches::{methods, minhashes, shingle_sets, sketches};
    #[pymodule_export]
    use crate::spark::{FileDocuments, SparkTask, describe, read_file};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::keep_panic_messages();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
