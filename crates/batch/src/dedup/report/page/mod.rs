//! The page of a run: its counts, the largest clusters, and pairs of texts to look at.
//!
//! ```text
//! rows, labels, decisions ─► tally ─┬─► sources, methods, similarities
//!                                   └─► sites (sorted)
//! clusters of the report ─► cluster samples ──┐
//! decisions, refused pairs ─► shown pairs ────┴─► texts, read again ─► page.html
//! ```
//!
//! Memory holds counts of each source, and a fixed number of clusters, pairs and texts. Sites are
//! sorted on disk if there are many. The bytes of the page depend neither on threads nor on memory.

mod maker;
mod samples;
mod shown_pairs;
mod shown_texts;
mod sites;
mod tally;

pub use maker::{DedupPageMaker, RunFacts};
pub use samples::ClusterSamples;
