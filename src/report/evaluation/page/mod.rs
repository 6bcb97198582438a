//! An evaluation as a self-contained HTML page.
//!
//! All text from documents, files or flags goes through `escape`. The page works from a file,
//! without a network and without its script, which only sorts tables. Its content security policy
//! allows only that script and style.

mod agreement;
mod contents;
mod curves;
mod difference;
mod escape;
mod histograms;
mod html;
mod methods;
mod mistakes;
mod table;

pub use contents::{Page, ShownDocument};

#[cfg(test)]
mod tests;
