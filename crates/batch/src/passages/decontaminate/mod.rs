//! `simtool decontaminate`: finds parts of reference items, such as those of evaluation sets, in the
//! documents of a dump.
//!
//! An n-gram is a run of n words; of an item with fewer words it is the whole item. A stretch of a
//! document is contaminated if n-grams cover it that occur in an item.
//!
//! ```text
//! reference ─► index of n-grams ─┐
//!                                ├─► hits ─► stretches ─► ranges, and counts by item
//! documents ─► words ────────────┘
//! ```
//!
//! The index is in memory; documents are read once, or twice if n-grams of many documents are
//! ignored. Words are compared by 64-bit hashes, and an n-gram word by word: so of an n-gram and a
//! run of words that differ, each word that differs has to have the hash of the other one.

mod clusters;
mod common;
mod counts;
mod decide;
mod estimate;
mod filter;
mod index;
mod items;
mod job;
mod memory;
mod reading;
mod reference;
mod search;
mod widen;

pub use clusters::NgramClusterRule;
pub use index::{Index, NgramHit};
pub use items::{Item, Items};
pub use job::{DecontaminateJob, LeastWords, MOST_CHARACTERS};
pub use widen::{Wide, Widening};
