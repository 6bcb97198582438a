//! What is a word?
//!
//! For the main job, text crosses into the layers above in [`Window`]s: a few kilobytes of one
//! document, copied, with the words found in it. For everything else a [`Tokenizer`] turns a
//! document into the hashes of its words, and [`shingles`] turns those into sets. Deliberately
//! absent: files, documents, counts.

pub mod shingles;
mod stop_words;
mod tokenizer;
mod window;
mod word_set;

pub use stop_words::{builtin_stop_words, listed_stop_words, stop_words};
pub use tokenizer::{Choice, Spelled, Spelling, Tokenizer, WordHashes};
pub use window::{Window, Windows};
pub use word_set::WordSet;
