//! Where do documents come from?
//!
//! Documents are borrowed views of an input's bytes. Deliberately absent: words, threads, files;
//! but for `synthetic`, which makes corpora up and writes them.

pub mod form_feed;
pub mod synthetic;
