//! What is a word?
//!
//! Text crosses into the layers above in [`Window`]s: a few kilobytes of one document, copied, with
//! the words found in it. Deliberately absent: files, documents, counts.

mod stop_words;
mod window;

pub use stop_words::stop_words;
pub use window::{Window, Windows};
