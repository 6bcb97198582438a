//! The inputs, written without their duplicates, or with marks at them.

pub(super) mod files;
pub(super) mod marks;
pub(super) mod shard_documents;
#[cfg(feature = "parquet")]
pub(super) mod table_dump;
