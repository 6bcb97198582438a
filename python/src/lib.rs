//! The Rust part of the Python package `simtool_dedup`.
//!
//! Everything that takes long runs in threads of its own without the interpreter, and is stopped by
//! Ctrl-C ([`job`]). Rows of data frames are inputs in memory, or become temporary files of JSON Lines
//! ([`rows`](tables::rows)). The command's own code processes them ([`command`]), so that the answers
//! are those of the command. The library returns its reports as record batches of Arrow ([`reports`]).

mod command;
mod error;
mod explain;
mod index;
mod index_settings;
mod job;
mod open_indexes;
mod reports;
mod sketches;
mod spark;
mod tables;

use pyo3::prelude::*;

/// In place of the allocator of musl, as in the program.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The Rust part of `simtool_dedup`; its functions are private to that package.
#[pymodule(gil_used = false)]
mod _simtool {
    use pyo3::prelude::*;

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
    use crate::reports::answers::read_answers;
    #[pymodule_export]
    use crate::reports::passages::{PassageRows, restored_passages};
    #[pymodule_export]
    use crate::reports::read_report;
    #[pymodule_export]
    use crate::reports::result::{RowResult, restored_rows, text_at};
    #[pymodule_export]
    use crate::sketches::neighbours::neighbours;
    #[pymodule_export]
    use crate::sketches::{methods, minhashes, shingle_sets, sketches};
    #[pymodule_export]
    use crate::spark::{
        ClusterJob, TaskDocuments, checked, claim_work, cluster_task, planned, read_work,
        write_index, write_work,
    };
    #[pymodule_export]
    use crate::tables::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::keep_panic_messages();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
