//! The exact similarity of two texts.

use std::fmt;

use super::words::{shingle_width, word_reader};
use crate::dedup::Fraction;
use crate::sketch::Needs;
use crate::text::shingles::jaccard;

/// The Jaccard similarity of two sets of shingles: |A ∩ B| / |A ∪ B|.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Similarity {
    /// Distinct shingles in both texts.
    pub shared: u64,
    /// Distinct shingles in at least one of them.
    pub all: u64,
}

impl Similarity {
    /// The similarity as a number from 0 to 1. Two texts without words have similarity 0.
    pub fn value(self) -> f64 {
        self.shared as f64 / self.all.max(1) as f64
    }
}

impl From<Fraction> for Similarity {
    fn from((shared, all): Fraction) -> Similarity {
        Similarity { shared, all }
    }
}

impl fmt::Display for Similarity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.shared, self.all)
    }
}

/// The share of word shingles that two texts have in common, counted exactly.
///
/// A shingle is a run of five words; a shorter text is one shingle. Memory is linear in the lengths
/// of the texts; time includes sorting their shingles.
///
/// ```
/// let a = "the quick brown fox jumps over the lazy dog today";
/// let b = "the quick brown fox jumps over the lazy dog again";
/// let similarity = simtool::similarity(a, b);
/// assert_eq!((similarity.shared, similarity.all), (5, 7));
/// assert!(similarity.value() > 0.7);
/// ```
pub fn similarity(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>) -> Similarity {
    let mut reader = word_reader(Needs::HASHES);
    let sets = [a.as_ref(), b.as_ref()]
        .map(|text| reader.read(text).shingle_set(shingle_width()).to_vec());
    jaccard(&sets[0], &sets[1]).into()
}
