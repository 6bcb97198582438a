//! The short form of the library: texts in memory, with the program's defaults.
//!
//! Words are those of the default tokenizer, and shingles are runs of five words, as in
//! `simtool dedup`. Texts are bytes that are expected to be UTF-8; other bytes are no words, and no
//! error.

mod deduplicator;
mod fingerprints;
#[cfg(feature = "index")]
mod index;
mod similarity;
mod words;

pub use deduplicator::{Deduplicator, Duplicate, Evidence, dedup};
pub use fingerprints::{MinHash, hamming_distance, minhash, simhash};
#[cfg(feature = "index")]
pub use index::Index;
pub use similarity::{Similarity, similarity};
