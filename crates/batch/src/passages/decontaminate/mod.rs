//! `simtool decontaminate`: finds parts of reference items, such as those of evaluation sets, in the
//! documents of a dump.
//!
//! An n-gram is a run of n words; of an item with fewer words it is the whole item. A stretch of a
//! document is contaminated if n-grams cover it that occur in an item. Edited items have few n-grams
//! left; they are found by clusters of shorter ones, which have an index of their own.
//!
//! ```text
//! reference ─► indexes of n-grams ┐
//!                                ├─► hits ─► stretches ─► ranges, and counts by item
//! documents ─► words ────────────┘
//! ```
//!
//! The index is in memory; documents are read once, or twice if n-grams of many documents are
//! ignored. Words are compared by 64-bit hashes, and an n-gram word by word: so of an n-gram and a
//! run of words that differ, each word that differs has to have the hash of the other one.

mod decide;
mod estimate;
mod filter;
mod finding;
mod gram_table;
mod index;
mod items;
mod job;
mod memory;
mod reference;
mod search;

pub use finding::clusters::NgramClusterRule;
pub use finding::widen::{Wide, Widening};
pub use index::{Index, NgramHit, words_of_gram};
pub use items::{Item, Items};
pub use job::{DecontaminateJob, EditedRule, LeastWords, MOST_CHARACTERS};
