//! Segmentation of runs of Han characters.

#[cfg(feature = "zh")]
use std::sync::OnceLock;

#[cfg(feature = "zh")]
use jieba_rs::Jieba;

use super::sink::Sink;

/// The maximum number of characters segmented together; only text without punctuation has longer
/// runs.
const MAX_RUN: usize = 1024;

/// Buffers a run of Han and splits it into words. With the feature `zh`, words are those of jieba's
/// dictionary. Otherwise they are overlapping pairs of characters, or the only character.
pub(super) struct Dictionary {
    run: String,
    characters: usize,
}

impl Dictionary {
    pub(super) fn new() -> Dictionary {
        Dictionary {
            run: String::new(),
            characters: 0,
        }
    }

    /// Adds a character to the run; splits the run first if it has the maximum length.
    #[inline]
    pub(super) fn push(&mut self, character: char, sink: &mut Sink<'_>) {
        if self.characters == MAX_RUN {
            self.flush(sink);
        }
        self.run.push(character);
        self.characters += 1;
    }

    /// Splits the buffered run into words and clears it.
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) {
        words(&self.run, |word| sink.word(word.as_bytes()));
        self.run.clear();
        self.characters = 0;
    }
}

/// The most probable segmentation. It does not use jieba's hidden Markov model, which guesses names
/// and so depends on wider context.
#[cfg(feature = "zh")]
fn words(run: &str, mut visit: impl FnMut(&str)) {
    /// Loaded at the first use in the process, in about 0.2 s.
    static JIEBA: OnceLock<Jieba> = OnceLock::new();
    let jieba = JIEBA.get_or_init(Jieba::new);
    for token in jieba.cut(run, false) {
        visit(token.word);
    }
}

#[cfg(not(feature = "zh"))]
fn words(run: &str, mut visit: impl FnMut(&str)) {
    let ends = || {
        run.char_indices()
            .map(|(place, character)| place + character.len_utf8())
    };
    if run.chars().nth(1).is_none() {
        return visit(run);
    }
    for ((start, _), end) in run.char_indices().zip(ends().skip(1)) {
        visit(&run[start..end]);
    }
}
