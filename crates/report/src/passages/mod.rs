//! The page of a search for passages.

mod contents;
mod html;
#[cfg(test)]
mod tests;

pub use contents::{ItemRow, Items, PassageRow, PassageTotals, PassagesPage, WorstDocument};
pub use html::{PASSAGE_BYTES, TEXT_BYTES};
