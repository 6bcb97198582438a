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
pub mod index_rows;
pub mod json_lines;
mod location;
mod number;
pub mod pairs;
pub mod passages;
pub mod places;
#[cfg(feature = "parquet")]
mod record_batches;
pub mod result_txt;
pub mod verdicts;
mod visible;

pub use alignment::tokens;
pub use html::difference;
#[cfg(feature = "parquet")]
pub use record_batches::{parquet_table, report_batches};

use simtool_core::Result;
#[cfg(feature = "parquet")]
use simtool_core::{Error, ErrorKind};
