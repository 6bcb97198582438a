//! The page of a search for passages.

mod contents;
mod html;
#[cfg(test)]
mod tests;

pub use contents::{ItemRow, Items, Page, PassageRow, Totals, WorstDocument};
pub use html::{PASSAGE_BYTES, TEXT_BYTES};
