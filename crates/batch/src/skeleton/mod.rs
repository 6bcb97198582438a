//! What all jobs with a work directory have in common: the start of a run, its stages' inputs and
//! resources, and its end.

pub mod checks;
pub mod context;
pub mod described_inputs;
pub mod invocation;
pub mod job;
pub mod known_documents;
pub mod reading_memory;
pub mod run;
pub mod run_documents;
pub mod settings;
pub mod skipped;
pub mod start;
pub mod summary;
pub mod warning;
