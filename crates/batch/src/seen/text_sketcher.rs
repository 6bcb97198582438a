//! What an index is told of a text: digests and a sketch.

use simtool_core::dedup::keep::{Facts, KeepOrder, Policy, Value};
use simtool_core::kernel::Level;
use simtool_core::sketch::{Compare as _, Method as _, Needs, SignedMethod, digest};
use simtool_engine::text_words::WordReader;
use simtool_index::Entry;

use super::keep_key::append_key;
use super::settings::IndexSettings;
use crate::dedup::{EXACT, NORMALIZED};

/// Describes texts for an index; one for each thread.
pub struct TextSketcher<'a> {
    words: WordReader,
    method: &'a SignedMethod,
    keep: &'a KeepOrder,
    /// The number of words of the shingles that a policy counts, if any does.
    counted: Option<usize>,
    sketch: Vec<u8>,
    key: Vec<u8>,
    /// The number of different shingles of the last text, if they are counted.
    shingles: u64,
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
    /// The [key](Entry::keep) by which the best copy is found.
    pub keep: S,
}

impl<'a> TextSketcher<'a> {
    /// Describes texts by `method`, which is that of `settings`.
    pub(super) fn new(
        method: &'a SignedMethod,
        settings: &'a IndexSettings,
        level: Level,
    ) -> TextSketcher<'a> {
        let common = settings.common(level);
        let counts = settings.keep.compared().contains(&Policy::MostShingles);
        // The digest of the words needs their hashes.
        let needs = method.needs().and(Needs::HASHES);
        TextSketcher {
            words: WordReader::new(common.tokenizer, needs, common.level),
            method,
            keep: &settings.keep,
            counted: counts.then(|| settings.shingle()),
            sketch: Vec::new(),
            key: Vec::new(),
            shingles: 0,
        }
    }

    /// The facts about `text`, by the rules of `dedup`. Its date, its URL and its fields are unknown.
    pub fn read(&mut self, text: &[u8]) -> TextFacts<&[u8]> {
        self.read_with(text, Facts::default(), |_| None)
    }

    /// The same of a document with the date and the URL of `facts` and these fields.
    pub(super) fn read_with<'d>(
        &mut self,
        text: &[u8],
        facts: Facts<'d>,
        field: impl Fn(&str) -> Option<Value<'d>>,
    ) -> TextFacts<&[u8]> {
        let found = self.facts(text);
        let facts = Facts {
            text_bytes: text.len() as u64,
            shingles: self.shingles,
            ..facts
        };
        self.key.clear();
        append_key(self.keep, &facts, field, &mut self.key);
        TextFacts {
            words: found.words,
            text: found.text,
            sketch: &self.sketch,
            is_short: found.is_short,
            keep: &self.key,
        }
    }

    /// The facts without the sketch, which is left in the buffer, and the key.
    fn facts(&mut self, text: &[u8]) -> TextFacts<()> {
        self.sketch.clear();
        let is_exact = self.method.name() == EXACT;
        let by_equality = is_exact || self.method.name() == NORMALIZED;
        let mut words = self.words.read(text);
        let count = words.hashes().len();
        let shingles = |width| words.shingle_set(width).len() as u64;
        self.shingles = self.counted.map_or(0, shingles);
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
        if count < self.method.least_words() || !has_any {
            facts.is_short = true;
            self.sketch.clear();
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
            keep: self.keep.as_ref(),
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
            keep: self.keep.to_vec(),
        }
    }
}
