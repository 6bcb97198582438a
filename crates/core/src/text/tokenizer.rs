//! Tokenizers: documents to words, and words to hashes.
//!
//! A [`Choice`] says what a word is. Words are found in the order of the text. Words of natural
//! language are [folded](fold): such a word depends only on its own characters and on the ones next
//! to it, not on the rest of the document. Invalid UTF-8 separates words.

mod auto;
mod break_class;
mod characters;
mod choice;
mod code;
mod folding;
mod hyphenation;
mod per_character;
mod script;
mod segments;
mod sink;
mod spelled;
mod utf8;
mod word_hashes;

use crate::kernel::Level;
use crate::kernel::runs::{Class, Runs, WINDOW_BYTES};
use hyphenation::hyphenated;
use sink::{Sink, TokenOutput};
use std::ops::Range;
use utf8::valid_whole;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

pub use characters::has_unspaced_scripts;
pub(super) use characters::{composed, is_composed, is_single, joins};
pub use choice::Choice;
pub(crate) use folding::Folder;
pub use folding::fold;
pub(super) use hyphenation::{has_hyphen_break, hyphenation};
pub(super) use script::is_word_alone;
pub use sink::WordRange;
pub use spelled::{Spelled, Spelling};
pub(crate) use utf8::valid_parts;
pub use word_hashes::WordHashes;

/// Splits documents into words; holds buffers of about 40 KB.
pub struct Tokenizer {
    choice: Choice,
    runs: Box<Runs>,
    buffer: Vec<u8>,
    folder: Folder,
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
            folder: Folder::default(),
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
    /// [`hash_words`](Self::hash_words) one. Words that are of one character of the text, such as
    /// the digits of ½, have the same place.
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
            folder,
        } = self;
        let sink = &mut Sink::new(text, output, buffer);
        match choice {
            Choice::Ascii => {
                for_each_run(runs, text, sink, |run, sink| {
                    sink.at(&text[run.clone()]);
                    sink.ascii_word(&text[run]);
                });
            }
            Choice::Auto => {
                let mut whole = None;
                for_each_word(runs, text, sink, |run, sink| {
                    if text[run.clone()].iter().all(u8::is_ascii_alphanumeric) {
                        sink.at(&text[run.clone()]);
                        return sink.ascii_word(&text[run]);
                    }
                    match whole.get_or_insert_with(|| valid_whole(text)) {
                        Some(whole) => auto::words(&whole[run], folder, sink),
                        None => {
                            valid_parts(&text[run]).for_each(|part| auto::words(part, folder, sink))
                        }
                    }
                });
            }
            Choice::Code => code::words(text, false, sink),
            Choice::CodeAndComments => code::words(text, true, sink),
            Choice::Unicode => {
                for valid in valid_parts(text) {
                    for_each_word(runs, valid.as_bytes(), sink, |run, sink| {
                        segments::words(valid, run, folder, sink);
                    });
                }
            }
            Choice::Chars => {
                for valid in valid_parts(text) {
                    folder.each_character(valid, |character, cluster| {
                        sink.at(cluster.as_bytes());
                        sink.push(character);
                        sink.end();
                    });
                }
            }
        }
    }
}

/// Like [`for_each_run`], but passes all runs that a hyphen at a line end may divide, with it and
/// the line end, to `apart`.
fn for_each_word<'a>(
    runs: &mut Runs,
    text: &[u8],
    sink: &mut Sink<'a>,
    mut apart: impl FnMut(Range<usize>, &mut Sink<'a>),
) {
    let class = runs.class();
    let mut start = 0;
    for joined in hyphenated(text, |byte| class.contains(byte)) {
        for_each_run(runs, &text[start..joined.start], sink, |run, sink| {
            apart(start + run.start..start + run.end, sink);
        });
        start = joined.end;
        apart(joined, sink);
    }
    for_each_run(runs, &text[start..], sink, |run, sink| {
        apart(start + run.start..start + run.end, sink);
    });
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
pub(super) use tests::naive;

#[cfg(test)]
mod tests;
