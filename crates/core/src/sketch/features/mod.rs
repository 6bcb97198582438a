//! The features of a document, and what is made of them: weights, minima, sets and vectors.

pub(super) mod character_runs;
pub(super) mod minima;
pub(super) mod sets;
pub(super) mod vectors;
pub(super) mod weights;

use std::fmt;

use crate::text::shingles::little_endian;

/// The kind of features of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Words.
    Words,
    /// N-grams of this many words; all words if there are fewer.
    Shingles(usize),
    /// N-grams of this many characters of the text, without white space and folded to lower case;
    /// all characters if there are fewer.
    Characters(usize),
}

impl fmt::Display for Features {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Features::Words => out.write_str("words"),
            Features::Shingles(width) => write!(out, "shingles of {width} words"),
            Features::Characters(width) => write!(out, "shingles of {width} characters"),
        }
    }
}

/// Calls `visit` with the bytes of each shingle: the little-endian hashes of `width` words.
pub(super) fn for_each_shingle(words: &[u64], width: usize, visit: impl FnMut(&[u8])) {
    let bytes = little_endian(words);
    let width = width.min(words.len()) * size_of::<u64>();
    if width > 0 {
        bytes
            .windows(width)
            .step_by(size_of::<u64>())
            .for_each(visit);
    }
}
