//! The formats of shards, and how documents become records of them.

pub(crate) mod encoder;
pub(crate) mod json_lines;
pub(crate) mod json_value;
#[cfg(feature = "parquet")]
pub(crate) mod layout;
#[cfg(feature = "parquet")]
pub(crate) mod row_bytes;
#[cfg(feature = "parquet")]
pub(crate) mod row_json;
#[cfg(feature = "parquet")]
pub(crate) mod table_rows;
#[cfg(feature = "parquet")]
pub(crate) mod tables;
pub(crate) mod text_record;
