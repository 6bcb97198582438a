//! `simtool lines`: finds units (lines, paragraphs, runs of sentences) that occur more often than a
//! given number of times, and removes them.
//!
//! Two units are equal if xxh3-128 of their normal forms is. Of n different units, two have the same
//! hash with a probability of at most n² / 2¹²⁹: 10¹¹ units have such a pair with a probability of
//! 1.5 · 10⁻¹⁷.

mod begin;
mod counting;
mod decided;
mod group;
mod job;
mod listed;
mod memory;
mod occurrence;
mod page;
mod per;
mod reading;
mod reports;
mod rewriting;
mod run;
mod summary;
#[cfg(feature = "parquet")]
mod tables;
mod texts;
mod totals;
mod warnings;

pub use begin::{BeginOutcome, UnfinishedRun};
pub use job::{Job, KeptUnit, Remains, Rule};
pub use listed::ListedUnits;
pub use memory::least_bytes as least_memory_bytes;
pub use per::Per;
pub use summary::Summary;
pub use totals::Outcome;
