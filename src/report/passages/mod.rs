//! The page of a search for repeated units.

mod contents;
mod html;
#[cfg(test)]
mod tests;

pub(crate) use contents::{Page, SourceRow, Totals, UnitRow, WorstDocument};
pub(crate) use html::{TEXT_BYTES, UNIT_BYTES};
