//! Deduplication of dumps. The result is that of the definition, for any split into files, formats,
//! chunks and threads, and after any number of interruptions.
//!
//! Promise (Deduplication): No document is lost: seen = … (every test checks it of its output)

mod against;
mod annotations;
mod containment;
pub mod documents;
mod guard;
mod interruption;
mod min_sources;
mod oracle;
mod page;
mod page_text;
mod policies;
mod related;
mod resume;
mod same_answer;
mod scopes;
mod second_reading;
pub mod setup;
mod shards;
mod skipped;
#[cfg(feature = "parquet")]
mod table_shards;
mod urls;
mod warnings;
mod written;
