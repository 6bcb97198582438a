//! Parts of self-contained HTML pages.
//!
//! All text from documents, files or flags goes through [`escape`]. A page works from a file,
//! without a network. Its content security policy allows only its own style, and its own script if
//! it has one.

mod bar_chart;
#[cfg(test)]
pub(super) mod checks;
mod difference;
mod document;
mod escape;
mod meter;
mod pair;
mod table;

pub(super) use bar_chart::{BarChart, Tick};
pub use difference::difference;
pub(super) use difference::{beginning, beginning_bytes, difference_but_case, difference_bytes};
pub(super) use document::{Assets, HtmlPage, Section};
pub(super) use escape::{capital, escape, escape_bytes};
pub(super) use meter::meter;
pub(super) use pair::{Side, pair};
pub(super) use table::{Cell, table};
