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

pub(crate) use clusters::BEGINNING_BYTES;
pub(in crate::report) use document::shortened;
pub(in crate::report) use html::ASSETS;
pub(crate) use pairs::PAIR_BYTES;

#[cfg(test)]
mod tests;
