//! A deduplication as a self-contained HTML page.
//!
//! The page has no script.

mod clusters;
mod document;
mod html;
mod pairs;
mod places;
mod refused;
mod totals;

pub(crate) use clusters::LONGEST_BEGINNING;
pub(crate) use pairs::LONGEST_TEXT;

#[cfg(test)]
mod tests;
