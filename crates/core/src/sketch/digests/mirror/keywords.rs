//! Keywords: the words of a page with the highest weights.

use std::cmp::Ordering;

use md5::{Digest, Md5};

use super::page_abstract::DIGEST_BYTES;
use crate::sketch::digests::equality::key;
use crate::sketch::features::weights::Idf;
use crate::sketch::method::parameter::SHARE_DENOMINATOR;
use crate::sketch::{Compare, Method, Needs, Score, SketchScratch, TokenizedDocument};
use crate::text::WordSet;

/// The order in which keywords are digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Heaviest first.
    Weight,
    /// By their bytes.
    Alphabet,
}

/// The methods that compare the MD5 of keywords, and their weights if there is an epsilon.
#[derive(Clone, Debug)]
pub(super) struct Keywords {
    pub(super) name: &'static str,
    pub(super) order: Order,
    /// The maximum number of keywords.
    pub(super) keywords: usize,
    /// Inverse document frequencies, if they are part of the weights.
    pub(super) idf: Option<Idf>,
    /// |a−b|² / (|a|²+|b|²) of the weights must be below this fraction.
    pub(super) epsilon: Option<(u64, u64)>,
    pub(super) stop_words: WordSet,
}

/// The maximum weight, so that sums of squares fit into 128 bits.
const MAX_WEIGHT: u64 = 1 << 56;

impl Keywords {
    fn bytes(&self) -> usize {
        let weights = if self.epsilon.is_some() {
            self.keywords
        } else {
            0
        };
        DIGEST_BYTES + weights * size_of::<u64>()
    }

    /// The weight of a word, from its hash and its number of occurrences.
    fn weight(&self, word: u64, count: u64) -> u64 {
        let rarity = self.idf.as_ref().map_or(1, |idf| idf.weight(word));
        let weight = count.saturating_mul(rarity);
        weight.min(MAX_WEIGHT)
    }

    /// Replaces `out` by the keywords, heaviest first: (weight, index of a word of the document).
    fn choose(
        &self,
        document: TokenizedDocument<'_>,
        runs: &mut Vec<(u64, u128)>,
        out: &mut Vec<(u64, usize)>,
    ) {
        let TokenizedDocument { short, spelled, .. } = document;
        assert_eq!(short.len(), spelled.len(), "words and their spelling");
        runs.clear();
        let words = short.iter().zip(0..);
        let words = words.filter(|(word, _)| !self.stop_words.contains(**word));
        runs.extend(words.map(|(&word, place)| (word, place)));
        runs.sort_unstable();
        out.clear();
        let equal = runs.chunk_by(|(word, _), (next, _)| word == next);
        out.extend(equal.map(|run| {
            let (word, place) = run[0];
            (self.weight(word, run.len() as u64), place as usize)
        }));
        let heavier = |&(weight, place): &(u64, usize), &(other, of): &(u64, usize)| {
            let ties = || spelled.word(place).cmp(spelled.word(of));
            other.cmp(&weight).then_with(ties)
        };
        if out.len() > self.keywords {
            out.select_nth_unstable_by(self.keywords, heavier);
            out.truncate(self.keywords);
        }
        out.sort_unstable_by(heavier);
    }

    fn read<'s>(&self, sketch: &'s [u8]) -> (&'s [u8; DIGEST_BYTES], &'s [[u8; 8]]) {
        assert_eq!(sketch.len(), self.bytes(), "bytes of a sketch");
        match sketch.split_first_chunk() {
            Some((digest, weights)) => (digest, weights.as_chunks().0),
            None => unreachable!("a digest comes first"),
        }
    }
}

/// The MD5 of words joined by zero bytes, which no word contains.
fn digest<'w>(words: impl Iterator<Item = &'w [u8]>) -> [u8; DIGEST_BYTES] {
    let mut digest = Md5::new();
    for (number, word) in words.enumerate() {
        if number > 0 {
            digest.update([0]);
        }
        digest.update(word);
    }
    digest.finalize().into()
}

/// 1 − |a−b|² / (|a|²+|b|²), which is 2ab / (|a|²+|b|²); 1 for zero vectors.
fn likeness(a: &[[u8; 8]], b: &[[u8; 8]]) -> Score {
    let (mut product, mut squares) = (0, 0);
    for (a, b) in a.iter().zip(b) {
        let [a, b] = [a, b].map(|weight| u128::from(u64::from_le_bytes(*weight).min(MAX_WEIGHT)));
        product += a * b;
        squares += a * a + b * b;
    }
    match squares {
        0 => Score::Fraction(1, 1),
        _ => Score::share(2 * product, squares),
    }
}

impl Compare for Keywords {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let weights = match &self.idf {
            None => "tf".to_owned(),
            Some(known) => format!("tf-idf of {known}"),
        };
        let mut parameters = vec![
            ("keywords", self.keywords.to_string()),
            ("weights", weights),
            ("stop_words", self.stop_words.to_string()),
        ];
        if let Some((share, of)) = self.epsilon {
            parameters.push(("epsilon", format!("{share}/{of}")));
        }
        parameters
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(self.bytes())
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        emit(key(self.read(sketch).0));
    }

    /// Equal digests mean equal words, and weights are in the order of the words' bytes.
    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let ((a, of_a), (b, of_b)) = (self.read(a), self.read(b));
        match a == b {
            true => likeness(of_a, of_b),
            false => Score::Fraction(0, 1),
        }
    }

    /// The similarity must be above 1 − ε, or above zero without ε.
    fn accepts(&self, score: &Score) -> bool {
        let (epsilon, of) = self
            .epsilon
            .unwrap_or((SHARE_DENOMINATOR, SHARE_DENOMINATOR));
        // Nearest scores are smallest.
        score.cmp(&Score::Fraction(of - epsilon, of)) == Ordering::Less
            && matches!(score, Score::Fraction(..))
    }
}

impl Method for Keywords {
    fn least_words(&self) -> usize {
        1
    }

    fn needs(&self) -> Needs {
        Needs {
            spelled: true,
            ..Needs::HASHES
        }
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let SketchScratch { runs, keywords, .. } = scratch;
        self.choose(document, runs, keywords);
        let end = out.len() + self.bytes();
        if keywords.is_empty() {
            out.resize(end, 0);
            return false;
        }
        let word = |&(_, place): &(u64, usize)| document.spelled.word(place);
        if self.order == Order::Alphabet {
            keywords.sort_unstable_by_key(word);
        }
        out.extend_from_slice(&digest(keywords.iter().map(word)));
        if self.epsilon.is_some() {
            keywords.sort_unstable_by_key(word);
            out.extend(keywords.iter().flat_map(|(weight, _)| weight.to_le_bytes()));
        }
        out.resize(end, 0);
        true
    }
}
