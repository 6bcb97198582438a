//! Rules of deduplication: which copies are removed, and which one stays.
//!
//! Documents are sorted in *keep order*, with the best copy first ([`keep`]), and identified by
//! their *rank*, the place in it. Sketches propose pairs; the caller's [`Judge`] verifies each
//! exactly, and no document is removed unverified. [`star`] compares every removed document with
//! the copy that stays; [`components`] follows chains.
//!
//! Documents may exceed memory: they arrive in *blocks* of consecutive ranks, each with its index.
//! The *position* of a document is its index in the block. The documents of earlier blocks are
//! streamed as queries against later ones. Pairs are never stored beyond a batch. Blocks, batches
//! and threads do not change the result.
//!
//! Deliberately absent: files, threads (see [`Parallel`]), texts.

mod clusters;
mod documents;
mod judge;
pub mod keep;
mod parallel;
mod set_similarity;
mod url;
mod verdict;

pub use clusters::standing::MAX_REFUSALS;
pub use clusters::{components, naive, star};
pub use documents::{Documents, IndexedBlock};
pub use judge::{Judge, Sets};
pub use parallel::{OneThread, Parallel};
pub use set_similarity::set_bitmaps::SetBitmaps;
pub use set_similarity::set_index::set_index_bytes;
pub use url::normalize_url;
pub use verdict::{Event, Fraction, Verdict};
