//! Documents as one stream of records, cut into shards.
//!
//! ```text
//! inputs ─► reading ─────► Encoder ─► writer ──────────► place
//!  in order  wanted        records    borders of         files and counts
//!            documents     (workers)  blocks and shards  of complete shards
//! ```
//!
//! A job says which documents are in which stream, and which of them get a new text (`Edits`). The records, the borders of blocks and those of shards depend on that and on
//! the documents alone, so that the shards have the same bytes for any threads, memory and
//! interruptions.

mod check;
mod encoder;
mod json_lines;
mod json_value;
#[cfg(feature = "parquet")]
mod layout;
mod memory;
mod names;
mod place;
mod reading;
#[cfg(feature = "parquet")]
mod row_bytes;
#[cfg(feature = "parquet")]
mod row_json;
mod sample;
mod settings;
mod streams;
#[cfg(feature = "parquet")]
mod table_rows;
#[cfg(feature = "parquet")]
mod tables;
mod text_record;
mod writer;

pub(crate) use check::check;
pub use memory::least_bytes;
pub(crate) use names::{check_names, complete, names};
pub(crate) use sample::ShardForm;
pub use settings::{ShardName, ShardSettings, WriteFormat};
pub(crate) use streams::ShardStreams;
