//! A deduplication as a self-contained HTML page.
//!
//! The page has no script.

mod clusters;
mod document;
mod html;
mod lower;
mod pairs;
mod places;
mod refused;
mod totals;

pub use clusters::BEGINNING_BYTES;
pub use document::shortened;
pub(crate) use html::ASSETS;
pub use pairs::PAIR_BYTES;

#[cfg(test)]
mod tests;
