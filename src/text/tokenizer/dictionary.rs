//! Words of stretches of Han.

#[cfg(feature = "zh")]
use std::sync::OnceLock;

#[cfg(feature = "zh")]
use jieba_rs::Jieba;

use super::sink::Sink;

/// The most characters that are cut together; it takes a stretch without any punctuation to be
/// longer.
const STRETCH: usize = 1024;

/// Collects a stretch of Han and cuts it: by jieba's dictionary where the feature `zh` is compiled
/// in, else into overlapping pairs of characters, or itself if it has one.
pub(super) struct Dictionary {
    stretch: String,
    characters: usize,
}

impl Dictionary {
    pub(super) fn new() -> Dictionary {
        Dictionary {
            stretch: String::new(),
            characters: 0,
        }
    }

    /// Adds a character to the stretch; cuts what is there if it is enough.
    #[inline]
    pub(super) fn push(&mut self, character: char, sink: &mut Sink<'_>) {
        if self.characters == STRETCH {
            self.flush(sink);
        }
        self.stretch.push(character);
        self.characters += 1;
    }

    /// Cuts what is there.
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) {
        words(&self.stretch, |word| sink.word(word.as_bytes()));
        self.stretch.clear();
        self.characters = 0;
    }
}

/// The most probable words. Without jieba's hidden Markov model, which guesses names: what a
/// stretch is cut into should depend on little but itself.
#[cfg(feature = "zh")]
fn words(stretch: &str, mut visit: impl FnMut(&str)) {
    /// Loaded at the first Chinese of the process, in a fifth of a second.
    static JIEBA: OnceLock<Jieba> = OnceLock::new();
    let jieba = JIEBA.get_or_init(Jieba::new);
    for token in jieba.cut(stretch, false) {
        visit(token.word);
    }
}

#[cfg(not(feature = "zh"))]
fn words(stretch: &str, mut visit: impl FnMut(&str)) {
    let ends = || {
        stretch
            .char_indices()
            .map(|(place, character)| place + character.len_utf8())
    };
    if stretch.chars().nth(1).is_none() {
        return visit(stretch);
    }
    for ((start, _), end) in stretch.char_indices().zip(ends().skip(1)) {
        visit(&stretch[start..end]);
    }
}
