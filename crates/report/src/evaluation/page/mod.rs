//! An evaluation as a self-contained HTML page.
//!
//! The page works without its script, which only sorts tables.

mod agreement;
mod contents;
mod curves;
mod histograms;
mod html;
mod methods;
mod mistakes;

pub use contents::{EvaluationPage, MistakeDocument};

#[cfg(test)]
mod tests;
