//! `simtool lines`: finds units (lines, runs of lines, paragraphs, runs of sentences) that occur more
//! often than a given number of times or in a given number of documents, and removes them.
//!
//! Two units are equal if xxh3-128 of their normal forms is, and two runs if what their lines' or
//! sentences' hashes are combined to is. Of n different units, two have the same
//! hash with a probability of at most n² / 2¹²⁹: 10¹¹ units have such a pair with a probability of
//! 1.5 · 10⁻¹⁷.

mod counting;
mod decide;
mod estimate;
mod group;
mod job;
mod listed;
mod memory;
mod occurrence;
mod per;
mod reading;
mod search;
mod warnings;

pub use job::{LinesJob, Rule, Threshold};
pub use listed::ListedUnits;
pub use per::Per;
