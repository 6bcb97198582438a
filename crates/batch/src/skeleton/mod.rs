//! What all jobs with a work directory have in common besides their tables and outputs.

pub mod described_inputs;
pub mod reading_memory;
pub mod summary;
pub mod warning;
