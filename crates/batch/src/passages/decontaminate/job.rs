//! The settings that determine the output.

use std::fmt;

use super::finding::clusters::NgramClusterRule;
use super::finding::widen::Widening;
use crate::passages::settings::passage_settings::PassageSettings;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::Choice;
use simtool_corpus::Reading;

/// The most words of an n-gram.
const MOST_WORDS: usize = 100_000;
/// The most characters around a stretch, or of a short piece.
pub const MOST_CHARACTERS: usize = 1 << 20;

/// A search for parts of reference items.
#[derive(Clone, Debug)]
pub struct DecontaminateJob {
    /// The words of an n-gram.
    pub least: LeastWords,
    /// The least words of an item that is looked for as a whole, if it has fewer than an n-gram.
    pub least_item: LeastWords,
    /// What a word is.
    pub tokenizer: Choice,
    /// Which clusters of n-grams count; `None` if each n-gram does.
    pub clusters: Option<NgramClusterRule>,
    /// Which edited items are found besides n-grams; `None` if none are.
    pub edited: Option<EditedRule>,
    /// Whether the last of the further fields of an item is its answer, which is no part of its text.
    pub has_answers: bool,
    /// N-grams in more documents than this are ignored.
    pub most_documents: Option<u32>,
    /// What goes with contaminated stretches.
    pub widening: Widening,
    /// Documents that a cut would divide into more pieces than this are dropped.
    pub most_pieces: Option<u32>,
    /// How reference items are read. Further fields are parts of the text of an item.
    pub reference_reading: Reading,
    /// The settings that every search has.
    pub common: PassageSettings,
}

/// Which edited items are found: those of which a document has a cluster of n-grams that are shorter
/// than [`least`](DecontaminateJob::least). Items with characters that are words of their own, as in
/// Chinese, are not among them, since a run of such words says too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditedRule {
    /// The words of such an n-gram.
    pub least: LeastWords,
    /// The least words of an item; one with fewer than the n-gram is not found.
    pub least_item: LeastWords,
    /// Which clusters count.
    pub clusters: NgramClusterRule,
}

impl EditedRule {
    /// The measured rule: runs of 5 words of items of at least 13, with gaps of at most 15 places, and
    /// with a share in thousandths.
    pub fn new(thousandths: u32) -> EditedRule {
        EditedRule {
            least: LeastWords(5),
            least_item: LeastWords(13),
            clusters: NgramClusterRule {
                most_gap: 15,
                thousandths,
                answer_within: 0,
            },
        }
    }
}

/// A number of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeastWords(pub usize);

impl LeastWords {
    /// Reads a number of words such as `13w`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<LeastWords> {
        let digits = text.strip_suffix('w').unwrap_or_default();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number);
        let number = number.filter(|number| (1..=MOST_WORDS).contains(number));
        number.map(LeastWords).ok_or_else(|| {
            let message = format!(
                "{text:?}: expected a number of words such as 13w, of at most {MOST_WORDS}; \
                 reference items are not compared by bytes"
            );
            Error::new(ErrorKind::Parameter, message)
        })
    }
}

/// In the format of [`LeastWords::parse`].
impl fmt::Display for LeastWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}w", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_and_written() {
        for name in ["1w", "13w", "100000w"] {
            assert_eq!(LeastWords::parse(name).unwrap().to_string(), name);
        }
        for name in ["", "w", "13", "0w", "+1w", "100001w", "13 w", "50b"] {
            assert!(LeastWords::parse(name).is_err(), "{name}");
        }
    }
}
