//! What is a document's essence?
//!
//! One small file per method. Deliberately absent: files, threads, other documents.

pub mod hash_table;
pub mod simhash;
