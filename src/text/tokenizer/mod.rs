//! Documents to words, and words to hashes.
//!
//! What a word is depends on the [`Choice`]; in every case words are folded to lower case
//! character by character, keep the order of the text, and bytes that are no UTF-8 separate them.

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

use crate::kernel::Level;
use crate::kernel::runs::{Class, Runs, WINDOW_BYTES};
use mixed::Mixed;
use sink::{Sink, Take};
use std::borrow::Cow;
use std::ops::Range;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

pub use choice::Choice;
pub use spelled::{Spelled, Spelling};

/// The hashes of a document's words, in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordHashes {
    /// The XXH3-64 of each folded word.
    pub short: Vec<u64>,
    /// The XXH3-128 of each folded word, or nothing if it was not asked for.
    pub long: Vec<u128>,
}

impl WordHashes {
    /// Forgets the words, keeps the memory.
    pub fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }
}

/// Cuts documents into words; holds the buffers, about 40 KB.
pub struct Tokenizer {
    choice: Choice,
    runs: Box<Runs>,
    buffer: Vec<u8>,
    mixed: Mixed,
}

impl Tokenizer {
    /// A tokenizer whose ASCII words are found by the kernel of `level`; the words are the same
    /// for each.
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

    /// What this tokenizer takes for a word.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Replaces `out` by the hashes of the words of `text`; the 128-bit ones too if `wide`.
    ///
    /// O(length) time; no memory in proportion to the text or to a word but for the hashes.
    pub fn hash_words(&mut self, text: &[u8], wide: bool, out: &mut WordHashes) {
        out.clear();
        self.cut(text, Take::Hashes { out, wide });
    }

    /// Replaces `out` by the words of `text` and their hashes, the 128-bit ones too if `wide`.
    ///
    /// Slower than [`Tokenizer::hash_words`], and the words are kept whole.
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
        self.cut(text, Take::Words { visit });
    }

    fn cut<'a>(&'a mut self, text: &[u8], take: Take<'a>) {
        let Tokenizer {
            choice,
            runs,
            buffer,
            mixed,
        } = self;
        let sink = &mut Sink::new(take, buffer);
        match choice {
            Choice::Ascii => {
                for_each_run(runs, text, sink, |run, sink| sink.ascii_word(&text[run]))
            }
            Choice::Auto | Choice::Chinese => {
                mixed.begin(*choice);
                let mut whole = None;
                for_each_run(runs, text, sink, |run, sink| {
                    if text[run.clone()].is_ascii() {
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
                    let characters = valid.chars().filter(|character| !character.is_whitespace());
                    characters.for_each(|character| sink.folded_character(character));
                }
            }
        }
    }
}

/// The parts of `text` that are UTF-8.
fn valid_parts(text: &[u8]) -> impl Iterator<Item = &str> {
    let whole = valid_whole(text);
    let parts = if whole.is_some() { &[] } else { text };
    let parts = parts.utf8_chunks().map(|chunk| chunk.valid());
    whole.into_iter().chain(parts)
}

/// `text`, if it is UTF-8.
///
/// Nearly every text is, and this sees it an order of magnitude faster than the standard library
/// where the text is not ASCII.
fn valid_whole(text: &[u8]) -> Option<&str> {
    match encoding_rs::UTF_8.decode_without_bom_handling_and_without_replacement(text)? {
        Cow::Borrowed(valid) => Some(valid),
        // Of UTF-8, nothing is copied.
        Cow::Owned(_) => None,
    }
}

/// Hands the runs of `text` to `sink`, window by window; those that the kernel sets apart, and
/// those longer than a window, by way of `apart`, as places in `text`.
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
            sink.runs(runs, &mut |run, sink| {
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

/// The length of the longest window at the start of `text` that cuts no run.
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
