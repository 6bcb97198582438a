//! Formats of results.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! Writers produce bytes; the caller decides where they go.

pub mod alignment;
pub mod columns;
pub mod csv;
pub mod dedup;
pub mod evaluation;
mod html;
pub mod json_lines;
mod location;
mod number;
pub mod pairs;
#[cfg(feature = "parquet")]
pub mod parquet_pairs;
pub mod passages;
pub mod places;
#[cfg(feature = "parquet")]
mod record_batches;
#[cfg(feature = "parquet")]
pub mod report_batches;
pub mod result_txt;
pub mod tokens;
pub mod verdicts;
mod visible;

pub use html::difference;

use simtool_core::Result;
#[cfg(feature = "parquet")]
use simtool_core::{Error, ErrorKind};
