//! Words by rank and their frequencies: English, Chinese, and Zipf's law.

pub(super) mod english;
mod function_words;
pub(super) mod hanzi;
pub(super) mod zipf;
