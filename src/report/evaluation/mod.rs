//! What an [`Evaluation`](crate::evaluate::Evaluation) looks like: on the screen, as JSON, as CSV,
//! and as a page for a browser.
//!
//! All of them are functions of the evaluation alone: the same evaluation, the same bytes.

mod csv;
mod json;
mod number;
mod page;
mod screen;
mod visible;

pub use csv::{curves_csv, methods_csv, scores_csv};
pub use json::json;
pub use page::{Page, Shown};
pub use screen::screen;
