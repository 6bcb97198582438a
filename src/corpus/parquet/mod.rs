//! Which documents does a Parquet file hold?
//!
//! [`Table`] reads the columns that hold text, id, URL and date, in bounded batches; [`Fields`]
//! finds a row's values in a batch; [`copy_kept`] and [`copy_annotated`] write a table again
//! without its duplicates, or with a column that names them.
//!
//! The decoder may panic on corrupt files. Every call into it is contained, and a panic becomes an
//! error like any other. The process's panic hook is called first, since a library must not touch
//! the hook; it can ask [`is_contained`](super::is_contained).

mod chunks;
mod contain;
mod dictionary;
mod documents;
mod fields;
mod footer;
mod pages;
mod read;
mod sample;
mod thrift;
mod write;

pub(super) use chunks::RowReader;
pub(super) use documents::documents;
pub use fields::{Fields, Row};
pub use read::{Batches, Lost, Table};
pub use sample::{CopiedRows, copy_sample};
pub use write::{Annotation, copy_annotated, copy_kept};

#[cfg(test)]
mod chunk_tests;
#[cfg(test)]
mod tests;
