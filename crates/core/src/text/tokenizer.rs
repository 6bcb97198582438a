//! Tokenizers: documents to words, and words to hashes.
//!
//! The definition of a word depends on the [`Choice`]. In every case words are folded to lower case
//! character by character and keep the order of the text. Invalid UTF-8 separates words.

mod break_class;
mod choice;
mod dictionary;
pub(super) mod fold;
mod mixed;
mod per_character;
mod script;
mod segments;
mod sink;
mod spelled;
mod utf8;
mod word_hashes;

use crate::kernel::Level;
use crate::kernel::runs::{Class, Runs, WINDOW_BYTES};
use mixed::Mixed;
use sink::{Sink, TokenOutput};
use std::ops::Range;
use utf8::{valid_parts, valid_whole};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

pub use choice::Choice;
pub(super) use script::joins;
pub use sink::WordRange;
pub use spelled::{Spelled, Spelling};
pub use word_hashes::WordHashes;

/// Splits documents into words; holds buffers of about 40 KB.
pub struct Tokenizer {
    choice: Choice,
    runs: Box<Runs>,
    buffer: Vec<u8>,
    mixed: Mixed,
}

impl Tokenizer {
    /// A tokenizer that finds ASCII words by the kernel of `level`; the words are the same for each
    /// level.
    pub fn new(choice: Choice, level: Level) -> Tokenizer {
        let class = match choice {
            Choice::Ascii => Class::Letters,
            Choice::Unicode => Class::Joined,
            _ => Class::LettersDigitsAndBeyond,
        };
        Tokenizer {
            choice,
            runs: Runs::new(class, level),
            buffer: Vec::new(),
            mixed: Mixed::new(),
        }
    }

    /// The definition of a word that this tokenizer uses.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Replaces `out` by the hashes of the words of `text`, including 128-bit hashes if `wide`.
    ///
    /// O(length) time. Besides the hashes, memory does not grow with the text or its words.
    pub fn hash_words(&mut self, text: &[u8], wide: bool, out: &mut WordHashes) {
        out.clear();
        self.cut(text, TokenOutput::Hashes { out, wide });
    }

    /// Replaces `words` by the words of `text`, and `out` by their hashes, including 128-bit hashes
    /// if `wide`.
    ///
    /// Slower than [`Tokenizer::hash_words`]; stores the words as well.
    pub fn spell_words(
        &mut self,
        text: &[u8],
        wide: bool,
        out: &mut WordHashes,
        words: &mut Spelling,
    ) {
        out.clear();
        words.clear();
        self.for_each_word(text, &mut |word| {
            words.push(word);
            out.short.push(xxh3_64(word));
            if wide {
                out.long.push(xxh3_128(word));
            }
        });
    }

    /// Calls `visit` with the folded bytes of each word of `text`, in order.
    ///
    /// Slower than [`Tokenizer::hash_words`]; a long word is copied whole.
    pub fn for_each_word(&mut self, text: &[u8], visit: &mut dyn FnMut(&[u8])) {
        self.cut(text, TokenOutput::Words { visit });
    }

    /// Replaces `out` by the places of the words of `text`, in order: of each word of
    /// [`hash_words`](Self::hash_words) one. Pairs of characters overlap.
    ///
    /// Slower than [`Tokenizer::hash_words`].
    ///
    /// # Panics
    /// If the text has 4 GiB or more.
    pub fn word_ranges(&mut self, text: &[u8], out: &mut Vec<WordRange>) {
        assert!(u32::try_from(text.len()).is_ok(), "a text below 4 GiB");
        out.clear();
        self.cut(text, TokenOutput::Ranges { out });
    }

    fn cut<'a>(&'a mut self, text: &[u8], output: TokenOutput<'a>) {
        let Tokenizer {
            choice,
            runs,
            buffer,
            mixed,
        } = self;
        let sink = &mut Sink::new(text, output, buffer);
        match choice {
            Choice::Ascii => {
                for_each_run(runs, text, sink, |run, sink| {
                    sink.at(&text[run.clone()]);
                    sink.ascii_word(&text[run]);
                });
            }
            Choice::Auto | Choice::Chinese => {
                mixed.begin(*choice);
                let mut whole = None;
                for_each_run(runs, text, sink, |run, sink| {
                    if text[run.clone()].is_ascii() {
                        sink.at(&text[run.clone()]);
                        return sink.ascii_word(&text[run]);
                    }
                    match whole.get_or_insert_with(|| valid_whole(text)) {
                        Some(whole) => mixed.cut(&whole[run], text, sink),
                        None => {
                            valid_parts(&text[run]).for_each(|part| mixed.cut(part, text, sink))
                        }
                    }
                });
            }
            Choice::Unicode => {
                for valid in valid_parts(text) {
                    for_each_run(runs, valid.as_bytes(), sink, |run, sink| {
                        segments::words(valid, run, sink);
                    });
                }
            }
            Choice::Chars => {
                for valid in valid_parts(text) {
                    let characters = valid.char_indices();
                    for (place, character) in characters.filter(|(_, c)| !c.is_whitespace()) {
                        sink.at(&valid.as_bytes()[place..place + character.len_utf8()]);
                        sink.folded_character(character);
                    }
                }
            }
        }
    }
}

/// Passes the runs of `text` to `sink`, window by window. Calls `apart` instead, with the range in
/// `text`, for runs that the kernel lists as apart and for those longer than a window.
fn for_each_run<'a>(
    runs: &mut Runs,
    text: &[u8],
    sink: &mut Sink<'a>,
    mut apart: impl FnMut(Range<usize>, &mut Sink<'a>),
) {
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let mut bytes = whole_runs(rest, runs.class());
        if bytes > 0 {
            runs.fill(&rest[..bytes]);
            sink.runs(runs, &rest[..bytes], &mut |run, sink| {
                apart(start + run.start..start + run.end, sink);
            });
        } else {
            let class = runs.class();
            let belongs = |byte: &&u8| class.contains(**byte);
            bytes = rest.iter().take_while(belongs).count();
            apart(start..start + bytes, sink);
        }
        start += bytes;
    }
}

/// The length of the longest window at the start of `text` that splits no run.
fn whole_runs(text: &[u8], class: Class) -> usize {
    if text.len() <= WINDOW_BYTES {
        return text.len();
    }
    if !class.contains(text[WINDOW_BYTES]) {
        return WINDOW_BYTES;
    }
    let last = text[..WINDOW_BYTES]
        .iter()
        .rposition(|&byte| !class.contains(byte));
    last.map_or(0, |place| place + 1)
}

#[cfg(test)]
mod tests;
