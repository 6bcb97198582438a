//! Repeated units of dumps. The result is that of a hash map, for any split into files, formats and
//! threads, any memory, and after any interruption.
//!
//! Promise (Repeated units): seen = kept + dropped + … (every test that runs a job checks it of its
//! output)

mod formats;
mod oracle;
mod same_answer;
pub mod setup;
mod shards;
#[cfg(feature = "parquet")]
mod table_shards;
mod written;
