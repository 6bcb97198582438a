//! What a search found: removed ranges, dropped documents, frequent passages, new texts.

pub(crate) mod decided;
pub(crate) mod item;
pub(crate) mod new_texts;
pub(crate) mod ranges;
pub(crate) mod repeated;
pub(crate) mod too_little;
