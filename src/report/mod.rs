//! Formats of results.
//!
//! Writers produce bytes; the caller decides where they go.

pub mod alignment;
pub mod csv;
pub mod evaluation;
pub mod json_lines;
mod location;
pub mod pairs;
#[cfg(feature = "parquet")]
pub mod parquet_pairs;
pub mod result_txt;
pub mod tokens;
pub mod verdicts;
