//! Documents of text files: pages between form feeds, lines of JSON, whole texts, and records of
//! web archives.

pub mod form_feed;
pub(super) mod json_line;
pub mod json_text;
pub(super) mod raw_text;
pub(super) mod records;
