//! Documents as one stream of records, cut into shards.
//!
//! ```text
//! inputs ─► reading ─────► Encoder ─► writer ──────────► place
//!  in order  wanted        records    borders of         files and counts
//!            documents     (workers)  blocks and shards  of complete shards
//! ```
//!
//! The records, the borders of blocks and those of shards depend on the documents alone, so that the
//! shards have the same bytes for any threads, memory and interruptions.

mod check;
mod encoder;
mod json_lines;
mod json_value;
#[cfg(feature = "parquet")]
mod layout;
mod place;
mod reading;
#[cfg(feature = "parquet")]
mod row_bytes;
#[cfg(feature = "parquet")]
mod row_json;
mod settings;
mod streams;
#[cfg(feature = "parquet")]
mod tables;
mod text_record;
mod writer;

pub use check::check;
pub use reading::Reading as ShardReading;
pub use settings::{REMOVED, ShardName, ShardSettings, WriteFormat};
pub use streams::{ShardStreams, complete, names, remote_names};
