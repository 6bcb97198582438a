//! Formats of an [`Evaluation`](crate::evaluate::Evaluation): plain text, JSON, CSV, and an HTML
//! page.
//!
//! All of them depend only on the evaluation: the same evaluation gives the same bytes.

mod csv;
mod json;
mod number;
mod page;
mod screen;
mod visible;

pub use csv::{curves_csv, methods_csv, scores_csv};
pub use json::json;
pub use page::{Page, ShownDocument};
pub use screen::screen;
