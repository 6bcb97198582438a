//! What has to remain of a document from which passages are cut.

use simtool_core::text::Choice;
use simtool_core::text::units::sentences;
use simtool_engine::text_words::WordReader;

/// What has to remain of a document from which passages are cut; one with less is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// The least number of words.
    pub words: u64,
    /// The least number of sentences.
    pub sentences: u64,
    /// What a word is.
    pub tokenizer: Choice,
}

impl Remains {
    /// Whether a document needs more than a character that is not white space.
    pub fn has_rule(&self) -> bool {
        self.words > 0 || self.sentences > 0
    }

    /// Whether a text has fewer words or sentences than have to remain.
    pub(crate) fn are_missed_by(&self, words: &mut WordReader, rest: &[u8]) -> bool {
        let found = words.read(rest).hashes().len() as u64;
        let least = usize::try_from(self.sentences).unwrap_or(usize::MAX);
        found < self.words || sentences(rest).take(least).count() < least
    }
}
