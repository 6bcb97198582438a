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

mod formats;
mod place;
mod reading;
mod sample;
mod settings;
mod streams;
mod writer;

pub(crate) use sample::ShardForm;
pub(crate) use settings::check::check;
pub use settings::memory::least_bytes;
#[cfg(feature = "parquet")]
pub(crate) use settings::memory::row_groups;
pub(crate) use settings::names::{check_names, complete, names};
pub use settings::shard_settings::{ShardName, ShardSettings, WriteFormat};
pub(crate) use streams::ShardStreams;
