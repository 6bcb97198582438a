//! Formats of an [`Evaluation`](simtool_evaluate::Evaluation): plain text, JSON, CSV, and an HTML
//! page.
//!
//! All of them are deterministic: the same arguments give the same bytes.

mod csv;
mod json;
mod page;
mod screen;

pub use csv::{curves_csv, methods_csv, scores_csv};
pub use json::json;
pub use page::{EvaluationPage, MistakeDocument};
pub use screen::screen;
