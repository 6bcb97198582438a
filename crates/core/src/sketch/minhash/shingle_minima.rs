//! Minima of the shingles of a document.

use crate::sketch::method::SketchScratch;
use crate::text::shingles::shingles;

/// `count` minima of the shingles of a document, each under another random order.
pub fn minima<'a>(
    count: usize,
    words: &[u64],
    shingle: usize,
    scratch: &'a mut SketchScratch,
) -> &'a [u32] {
    let SketchScratch {
        values,
        bins,
        minima,
        ..
    } = scratch;
    shingles(words, shingle, values);
    bins.minima(values, count, minima);
    minima
}
