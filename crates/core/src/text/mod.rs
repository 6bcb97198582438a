//! Text to words, word hashes and shingles.
//!
//! The main job reads text as [`Window`]s: a few kilobytes of one document, copied, with the words
//! found in it. Everything else uses a [`Tokenizer`], which turns a document into the hashes of its
//! words, and [`shingles`], which turns those into sets, whose similarity a [`Measure`] defines.
//! [`units`] divides a text into lines, paragraphs or runs of sentences. By [`anchors`], equal
//! stretches of any length are found; [`common_subsequence`] aligns two texts.
//! Deliberately absent: files, collections, counts.

pub mod anchors;
mod common_subsequence;
mod least_similarity;
mod ocr;
pub mod shingles;
mod stop_words;
mod tokenizer;
pub mod units;
mod window;
mod word_set;

pub use common_subsequence::common_subsequence;
pub use least_similarity::{LeastSimilarity, Measure};
pub use ocr::{OCR_SHARE, OcrSigns};
pub use stop_words::{builtin_stop_words, listed_stop_words, stop_words};
pub use tokenizer::{
    Choice, Spelled, Spelling, Tokenizer, WordHashes, WordRange, fold, has_unspaced_scripts,
};
pub(crate) use tokenizer::{Folder, valid_parts};
pub use window::{Window, Windows};
pub use word_set::WordSet;
