//! Copies of a table: of some rows, of a sample, or with other texts.

pub(super) mod sample;
pub(super) mod with_texts;
pub(super) mod write;
