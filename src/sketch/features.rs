//! Which features does a document have?

use std::fmt;

use xxhash_rust::xxh3::xxh3_128;

use crate::text::shingles::little_endian;

/// What the features of a document are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Its words.
    Words,
    /// Its runs of so many words; all of them if there are fewer.
    Shingles(usize),
}

impl fmt::Display for Features {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Features::Words => out.write_str("words"),
            Features::Shingles(width) => write!(out, "shingles of {width} words"),
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

/// The xxh3-128 hash of each shingle.
pub(super) fn long_shingles(words: &[u64], width: usize, out: &mut Vec<u128>) {
    out.clear();
    for_each_shingle(words, width, |shingle| out.push(xxh3_128(shingle)));
}
