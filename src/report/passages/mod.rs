//! The page of a search for passages.

mod contents;
mod html;
#[cfg(test)]
mod tests;

pub(crate) use contents::{ItemRow, Items, Page, PassageRow, Totals, WorstDocument};
pub(crate) use html::{PASSAGE_BYTES, TEXT_BYTES};
