//! Formats of results.
//!
//! Writers produce bytes; the caller decides where they go.

pub mod alignment;
pub mod csv;
pub(crate) mod dedup;
pub mod evaluation;
mod html;
pub mod json_lines;
mod location;
mod number;
pub mod pairs;
#[cfg(feature = "parquet")]
pub mod parquet_pairs;
pub(crate) mod passages;
pub(crate) mod places;
pub mod result_txt;
pub mod tokens;
pub mod verdicts;
mod visible;

pub use html::difference;
