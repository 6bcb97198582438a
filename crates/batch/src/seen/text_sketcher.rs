//! What an index is told of a text: digests and a sketch.

use simtool_core::sketch::{Compare as _, Method as _, Needs, SignedMethod, digest};
use simtool_engine::methods::Common;
use simtool_engine::text_words::WordReader;
use simtool_index::Entry;

use crate::dedup::{EXACT, NORMALIZED};

/// Describes texts for an index; one for each thread.
pub struct TextSketcher<'a> {
    words: WordReader,
    method: &'a SignedMethod,
    sketch: Vec<u8>,
}

/// What an index is told of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFacts<S> {
    /// The digest by which texts are equal, as in `dedup`; `None` if there is nothing to compare.
    pub words: Option<u128>,
    /// The digest of the text.
    pub text: u64,
    /// The sketch; empty if the text is only compared for equal words.
    pub sketch: S,
    /// Whether it is, since it has too few words, or the method finds nothing in it.
    pub is_short: bool,
}

impl<'a> TextSketcher<'a> {
    /// Describes texts by `method`.
    pub(super) fn new(method: &'a SignedMethod, common: Common<'_>) -> TextSketcher<'a> {
        // The digest of the words needs their hashes.
        let needs = method.needs().and(Needs::HASHES);
        TextSketcher {
            words: WordReader::new(common.tokenizer, needs, common.level),
            method,
            sketch: Vec::new(),
        }
    }

    /// The facts about `text`, by the rules of `dedup`.
    pub fn read(&mut self, text: &[u8]) -> TextFacts<&[u8]> {
        self.sketch.clear();
        let is_exact = self.method.name() == EXACT;
        let by_equality = is_exact || self.method.name() == NORMALIZED;
        let mut words = self.words.read(text);
        let count = words.hashes().len();
        let of_text = digest::of_text(text);
        let mut facts = TextFacts {
            text: of_text as u64,
            ..TextFacts::default()
        };
        if count == 0 && (!by_equality || text.is_empty()) {
            return facts;
        }
        facts.words = Some(match is_exact {
            true => of_text,
            false => digest::of_words(words.hashes()),
        });
        if by_equality {
            return facts;
        }
        let has_any = words.sketch(self.method, &mut self.sketch);
        match count < self.method.least_words() || !has_any {
            true => facts.is_short = true,
            false => facts.sketch = &self.sketch,
        }
        facts
    }
}

impl<S: AsRef<[u8]>> TextFacts<S> {
    /// An entry of an index without an id.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            words: self.words,
            text: self.text,
            sketch: self.sketch.as_ref(),
            ..Entry::default()
        }
    }
}

impl TextFacts<&[u8]> {
    /// The facts with a sketch of their own.
    pub fn to_owned(self) -> TextFacts<Vec<u8>> {
        TextFacts {
            words: self.words,
            text: self.text,
            sketch: self.sketch.to_vec(),
            is_short: self.is_short,
        }
    }
}
