//! Inputs that are written again, with some documents removed or changed.

pub mod annotation;
pub mod background;
pub mod check;
pub mod copying;
pub mod directory;
pub mod documents;
pub mod edits;
pub mod files;
pub mod packing;
pub mod records;
pub mod related;
pub mod settings;
#[cfg(feature = "parquet")]
pub mod tables;
pub mod targets;
