//! Documents of Parquet files, and of rows in memory.
//!
//! [`Table`] reads the columns that the [`Reading`](super::Reading) names, in bounded batches.
//! [`MemoryRows`] are rows that are in memory instead.
//! [`Fields`] finds the values of a row in a batch, and [`with_texts`] replaces texts.
//! [`copy_kept`] copies a table without its duplicates, and [`copy_annotated`] with columns that name
//! their clusters and the documents they duplicate.
//!
//! The decoder may panic on corrupt files. The panics of all its calls are caught and become errors.
//! The panic hook of the process runs first, because a library must not replace it; the hook can check
//! [`is_contained`](super::is_contained).

mod catch_panic;
mod chunks;
mod copies;
mod dictionary;
mod documents;
mod memory_batches;
mod memory_rows;
mod read;
mod table_file;
mod validation;

pub(super) use chunks::RowReader;
pub use copies::sample::{CopiedRows, copy_sample};
pub use copies::with_texts::with_texts;
pub use copies::write::{Annotation, copy_annotated, copy_kept};
pub(super) use documents::documents;
pub use documents::fields::{Fields, Row};
pub use documents::value_text::value_text;
pub use memory_rows::MemoryRows;
pub use read::{Batches, Lost, Table, kept_rows};

#[cfg(test)]
mod chunk_tests;
#[cfg(test)]
mod tests;
