//! The first reading: the documents of a run, and what a search notes of them.

pub(crate) mod documents;
pub(crate) mod kept_chunks;
pub(crate) mod reading;
pub(crate) mod seen_twice;
