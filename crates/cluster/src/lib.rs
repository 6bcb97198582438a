//! Deduplication in tasks that any engine can distribute.
//!
//! A [`Job`] knows which [stage](Stage) is next and how many tasks it has. [`StoredJob::run`] runs one of
//! them, anywhere, and leaves one file in the directory of the job. A task needs nothing but this
//! directory and the input files, so an engine only has to call it: in any order, more than once,
//! again after a crash. The result is that of the command, byte for byte of each similarity.

mod candidates;
mod context;
mod decisions;
mod documents;
mod job;
mod name;
mod numbers;
mod plan;
mod records;
mod settings;
mod stored_job;
mod tables;
mod task_chunks;
mod tasks;
mod work;

pub use documents::Documents;
pub use job::{Job, Stage};
pub use plan::{Inputs, Plan, Request};
pub use settings::check;
pub use stored_job::{Called, StoredJob};
pub use work::{Facts, MARK, Work};
