//! The traits of sketching methods: a sketch of a document, keys of a sketch, a score of two.
//!
//! Every search relies on this contract: documents whose score a method accepts share at least one
//! key.

pub(super) mod entry;
pub(super) mod parameter;
pub(super) mod sketches;

use std::cmp::Ordering;
use std::fmt;

use super::features::character_runs::FoldedCharacters;
use super::features::minima::Bins;
use super::features::vectors::Vectors;
use crate::kernel::Level;
use crate::text::Spelled;

/// The shape of the sketches of a method, for searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The sketch begins with a fingerprint, little-endian; near means at most `distance` differing
    /// bits.
    Bits {
        /// The width in bits: 32, 64 or 128.
        width: u32,
        /// The maximum Hamming distance that is accepted.
        distance: u32,
    },
    /// Sketches are found by their keys.
    Keys,
}

/// The score of two sketches. Every method has one of these two kinds.
///
/// Scores are ordered nearest first. All scores of a method are of one kind; a distance sorts
/// before a fraction. Fractions are compared by cross-multiplication: 1/2 equals 2/4.
#[derive(Clone, Copy, Debug)]
pub enum Score {
    /// The number of differing bits; less is nearer.
    Distance(u32),
    /// Numerator and denominator of a similarity; more is nearer. A denominator of zero counts as
    /// one.
    Fraction(u64, u64),
}

impl Score {
    /// Whether this is a similarity of at least numerator / denominator.
    pub(super) fn reaches(&self, (numerator, denominator): (u64, u64)) -> bool {
        // Nearest scores are smallest.
        matches!(self, Score::Fraction(..)) && *self <= Score::Fraction(numerator, denominator)
    }

    /// The similarity `part` / `whole`, where `part` is at most `whole`; 0 / 0 is 0.
    ///
    /// Exact if the numbers fit into 64 bits; else rounded down by less than 2^-61, so that no pair
    /// is accepted wrongly. Equal nonzero numbers give exactly 1.
    pub(super) fn share(part: u128, whole: u128) -> Score {
        if part == whole && whole > 0 {
            return Score::Fraction(1, 1);
        }
        let bits = u128::BITS - whole.leading_zeros();
        let shift = if bits > 64 { bits - 63 } else { 0 };
        let rounded_up = (whole >> shift) + u128::from(whole & ((1 << shift) - 1) > 0);
        Score::Fraction((part >> shift) as u64, rounded_up as u64)
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        use Score::{Distance, Fraction};
        let product = |numerator: u64, denominator: u64| {
            u128::from(numerator) * u128::from(denominator.max(1))
        };
        match (*self, *other) {
            (Distance(a), Distance(b)) => a.cmp(&b),
            (Distance(_), Fraction(..)) => Ordering::Less,
            (Fraction(..), Distance(_)) => Ordering::Greater,
            (Fraction(a, of_a), Fraction(b, of_b)) => product(b, of_a).cmp(&product(a, of_b)),
        }
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Score) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Score::Distance(bits) => write!(out, "{bits}"),
            Score::Fraction(numerator, denominator) => write!(out, "{numerator}/{denominator}"),
        }
    }
}

/// What two sketches tell about the similarity of their texts, besides the score. It is symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// They cannot tell: the score decides alone.
    Unknown,
    /// The texts are near duplicates: the Jaccard similarity of their shingles is `shared` / `of`.
    Similar {
        /// The number of shingles that both texts have, or of thousandths if it is an estimate.
        shared: u32,
        /// The number of shingles that one of them has, or 1000.
        of: u32,
    },
    /// The texts are not near duplicates, although the score is accepted.
    Different,
}

/// Keys and scores of the sketches of one method: the part of a method that searches need.
///
/// Sketches are byte strings. Everything here is deterministic and the same on every machine.
pub trait Compare: Send + Sync {
    /// The name of the method, as users write it.
    fn name(&self) -> &'static str;

    /// Every parameter that affects a sketch, a key or a verdict, as built: summaries report these
    /// names and values, which therefore do not change. Most methods list those of their registry
    /// entry; SimHash and MinHash list the settings derived from them.
    fn parameters(&self) -> Vec<(&'static str, String)>;

    /// The shape of the sketches; by default they are found by their keys.
    fn shape(&self) -> Shape {
        Shape::Keys
    }

    /// The width and the largest distance, if sketches are near exactly if their distance is not
    /// larger; by default, those of the [`shape`](Self::shape). A width of 256 bits is no shape, since
    /// such sketches are found by their keys in an index.
    fn fingerprint_bits(&self) -> Option<(u32, u32)> {
        match self.shape() {
            Shape::Bits { width, distance } => Some((width, distance)),
            Shape::Keys => None,
        }
    }

    /// The length of every sketch in bytes; `None`, the default, if it varies.
    fn sketch_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether `bytes` are a well-formed sketch of this method, so that no other function panics.
    /// Call it for bytes from a file.
    fn is_sketch(&self, bytes: &[u8]) -> bool {
        self.sketch_bytes()
            .is_none_or(|length| length == bytes.len())
    }

    /// Calls `emit` with the keys of `sketch`; near sketches share at least one.
    ///
    /// # Panics
    /// If `sketch` is not a sketch of this method.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64));

    /// Appends the [keys](Self::keys) of `sketch` to `keys`: faster for a method that overrides it.
    ///
    /// # Panics
    /// If `sketch` is not a sketch of this method.
    fn append_keys(&self, sketch: &[u8], keys: &mut Vec<u64>) {
        self.keys(sketch, &mut |key| keys.push(key));
    }

    /// Whether all sketches that share a key are near; by default, their score decides.
    fn is_near_by_key(&self) -> bool {
        false
    }

    /// The score of two sketches; symmetric.
    ///
    /// # Panics
    /// If one of them is not a sketch of this method.
    fn score(&self, a: &[u8], b: &[u8]) -> Score;

    /// Whether documents with this score are near.
    fn accepts(&self, score: &Score) -> bool;

    /// A function that tells how similar the texts of other sketches are to that of `sketch`; `None`
    /// if sketches cannot tell, as by default. It is for pairs with an accepted score.
    ///
    /// # Panics
    /// If one of the sketches is not a sketch of this method.
    fn verifier(&self, _sketch: &[u8]) -> Option<Verifier> {
        None
    }

    /// The minima of the set of shingles, the lowest bits of each in a byte, if sketches have them. In
    /// two sketches, the bytes at one position are equal with probability s + (1 - s) / 2^b, where s is
    /// the Jaccard similarity of the sets and b the number of [bits](Self::minima_bits). `buffer` may
    /// be used.
    fn minima<'s>(&self, _sketch: &'s [u8], _buffer: &'s mut Vec<u8>) -> Option<&'s [u8]> {
        None
    }

    /// The number of bits of each of the [`minima`](Self::minima), four to eight.
    fn minima_bits(&self) -> u32 {
        u8::BITS
    }

    /// The sketches as vectors of features if possible; a join then needs no keys.
    fn vectors(&self) -> Option<Vectors<'_>> {
        None
    }

    /// The combination of two methods that this is, if it is one.
    fn combination(&self) -> Option<&dyn Combination> {
        None
    }

    /// A function that compares many sketches with `sketch`: returns the score if it is accepted.
    ///
    /// # Panics
    /// If one of the sketches is not a sketch of this method.
    fn scorer<'s>(&'s self, sketch: &'s [u8]) -> Scorer<'s> {
        Box::new(move |other| {
            let score = self.score(sketch, other);
            self.accepts(&score).then_some(score)
        })
    }
}

/// Two methods whose sketches are together a sketch of a third.
pub trait Combination: Send + Sync {
    /// Both methods.
    fn methods(&self) -> [&dyn Compare; 2];

    /// Whether sketches are near if they are near by either method, not only if by both.
    fn is_either(&self) -> bool;

    /// The sketches of both methods, `None` for one without features.
    ///
    /// # Panics
    /// If `sketch` is not a sketch of this combination.
    fn sides_of<'s>(&self, sketch: &'s [u8]) -> [Option<&'s [u8]>; 2];
}

/// The return type of [`Compare::verifier`].
pub type Verifier = Box<dyn Fn(&[u8]) -> Verification>;

/// The return type of [`Compare::scorer`].
pub type Scorer<'s> = Box<dyn Fn(&[u8]) -> Option<Score> + 's>;

/// The lists of a [`TokenizedDocument`] that a method reads, besides the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`TokenizedDocument::short`].
    pub short: bool,
    /// [`TokenizedDocument::long`].
    pub long: bool,
    /// [`TokenizedDocument::spelled`].
    pub spelled: bool,
}

impl Needs {
    /// Only the 64-bit hashes of the words.
    pub const HASHES: Needs = Needs {
        short: true,
        long: false,
        spelled: false,
    };

    /// The union of both needs.
    #[must_use]
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            short: self.short | other.short,
            long: self.long | other.long,
            spelled: self.spelled | other.spelled,
        }
    }
}

/// A tokenized document, the input of methods. Lists that no method needs may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenizedDocument<'a> {
    /// The decoded text; arbitrary, possibly hostile bytes.
    pub text: &'a [u8],
    /// The 64-bit xxh3 hash of each folded word, in order.
    pub short: &'a [u64],
    /// The 128-bit xxh3 hash of each folded word, in order.
    pub long: &'a [u128],
    /// The folded words themselves.
    pub spelled: Spelled<'a>,
}

/// A method that computes sketches of documents.
pub trait Method: Compare {
    /// The minimum number of words of a document; shorter ones are compared only for equality. By
    /// default 0, for methods that do not depend on the number of words.
    fn least_words(&self) -> usize {
        0
    }

    /// The lists of a document that the method reads, besides its text; by default none.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// A method with shorter sketches, which finds more: documents that share a key of this method
    /// share one of that one, too, and what is found is to be sketched and compared by this method.
    /// `None`, the default, if there is none.
    fn coarse(&self) -> Option<Box<dyn Method>> {
        None
    }

    /// Appends the sketch of a document to `out`; returns whether the document has features.
    ///
    /// Without features, a sketch of fixed length is all zeros, and one of variable length is
    /// empty. Such a document must not be matched. `scratch` avoids allocations and does not affect
    /// the result.
    ///
    /// # Panics
    /// If lists that the method [`needs`](Self::needs) differ in length.
    #[must_use]
    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool;
}

/// Buffers for sketching a document; one for each worker.
#[derive(Clone, Debug, Default)]
pub struct SketchScratch {
    pub(super) words: Vec<u64>,
    pub(super) names: Vec<u64>,
    pub(super) short: Vec<u64>,
    pub(super) long: Vec<u128>,
    pub(super) runs: Vec<(u64, u128)>,
    pub(super) values: Vec<u64>,
    pub(super) bins: Bins,
    pub(super) minima: Vec<u32>,
    pub(super) characters: FoldedCharacters,
    pub(super) kept: Vec<u64>,
    pub(super) units: Vec<u16>,
    pub(super) bytes: Vec<u8>,
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) keywords: Vec<(u64, usize)>,
    pub(super) letters: String,
    pub(super) counters: Vec<u64>,
}

impl SketchScratch {
    /// For work with kernels of `level`, which do not change any result.
    pub fn new(level: Level) -> SketchScratch {
        SketchScratch {
            bins: Bins::new(level),
            ..SketchScratch::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_scores_come_first() {
        use Score::{Distance, Fraction};
        let sorted = [
            Distance(0),
            Distance(3),
            Fraction(u64::MAX, u64::MAX),
            Fraction(u64::MAX - 1, u64::MAX),
            Fraction(4, 5),
            Fraction(1, 2),
            Fraction(0, 0),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
        assert_eq!(Fraction(1, 2), Fraction(2, 4));
        assert_eq!(Fraction(0, 0), Fraction(0, 7));
        assert_ne!(Fraction(0, 1), Distance(0));
    }

    #[test]
    fn shares_of_large_numbers_are_rounded_down() {
        let exact = |part, whole| match Score::share(part, whole) {
            Score::Fraction(a, b) => (a, b),
            Score::Distance(_) => panic!("no share"),
        };
        assert_eq!(exact(0, 0), (0, 0));
        assert_eq!(exact(3, 3), (1, 1));
        assert_eq!(exact(2, 4), (2, 4));
        let most = u128::from(u64::MAX);
        assert_eq!(exact(most - 1, most), (u64::MAX - 1, u64::MAX));
        assert_eq!(exact(u128::MAX, u128::MAX), (1, 1));
        for (part, whole) in [
            (most, most + 1),
            (1 << 100, (1 << 101) - 1),
            (7 << 99, u128::MAX >> 1),
        ] {
            let (a, b) = exact(part, whole);
            let (a, b) = (a as f64, b as f64);
            assert!(b >= (1u64 << 62) as f64);
            assert!((a / b - part as f64 / whole as f64).abs() < 1e-15);
            let Score::Fraction(a, b) = Score::share(part, whole) else {
                panic!("no share")
            };
            let shift = u128::BITS - whole.leading_zeros() - 63;
            assert!(u128::from(a) << shift <= part && u128::from(b) << shift >= whole);
        }
    }

    #[test]
    fn scores_are_written_as_they_are() {
        assert_eq!(Score::Distance(3).to_string(), "3");
        assert_eq!(Score::Fraction(2, 4).to_string(), "2/4");
    }
}
