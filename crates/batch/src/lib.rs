//! Jobs: what simtool does with documents.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! A job has validated settings, and a function that runs it with [`simtool_engine::Resources`].
//! Jobs do not depend on each other, except that [`explain`] and [`passages`] use parts of others.
//! What jobs with an output directory have in common is in the private modules and in [`shards`]:
//! the work directory, the table of documents, the writing of inputs, estimates.

pub mod dedup;
mod estimate;
pub mod explain;
pub mod main_job;
pub mod matching;
pub mod passages;
mod report_lines;
#[cfg(feature = "parquet")]
mod report_tables;
mod scope;
#[cfg(feature = "index")]
pub mod seen;
pub mod shards;
mod skeleton;
mod table;
mod workdir;
mod write;

#[cfg(feature = "parquet")]
pub use report_tables::report_batches;
pub use skeleton::invocation::{Against, Invocation};
pub use skeleton::job::BatchJob;
pub use skeleton::known_documents::{Asked, CopyEvidence, KnownCopy, KnownDocuments, Sketching};
pub use skeleton::reading_memory::least_memory_bytes;
pub use skeleton::run::UnfinishedRun;
pub use skeleton::settings::{BatchSettings, WrittenDocuments};
pub use skeleton::start::{BeginOutcome, CheckedJob};
pub use skeleton::warning::Warning;

use simtool_core::{Error, ErrorKind, Result};
