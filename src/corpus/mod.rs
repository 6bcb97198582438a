//! Where do documents come from?
//!
//! Documents are borrowed views of an input's bytes. Deliberately absent: words, threads, files.

pub mod form_feed;
