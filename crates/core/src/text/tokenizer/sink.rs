//! The output of tokenizers: hashes of words, or calls of a visitor.

use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::folding::{Folder, push};
use super::word_hashes::WordHashes;
use crate::kernel::runs::Runs;

/// The number of bytes of a long word that are buffered before they are hashed.
const PART_BYTES: usize = 4096;

/// The requested output.
pub(super) enum TokenOutput<'a> {
    Hashes { out: &'a mut WordHashes, wide: bool },
    Words { visit: &'a mut dyn FnMut(&[u8]) },
    Ranges { out: &'a mut Vec<WordRange> },
}

/// The bytes of a word in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordRange {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// Receives words, whole or in pieces.
pub(super) struct Sink<'a> {
    output: TokenOutput<'a>,
    /// The bytes of the current word that are not hashed yet.
    word: &'a mut Vec<u8>,
    /// The running hash of a current word of at least [`PART_BYTES`].
    giant: Option<Box<Xxh3>>,
    /// The address of the text.
    text: usize,
    /// The place of the next word in the text.
    place: WordRange,
}

impl<'a> Sink<'a> {
    pub(super) fn new(text: &[u8], output: TokenOutput<'a>, buffer: &'a mut Vec<u8>) -> Sink<'a> {
        buffer.clear();
        Sink {
            output,
            word: buffer,
            giant: None,
            text: text.as_ptr() as usize,
            place: WordRange::default(),
        }
    }

    /// States that the next word is `part` of the text, which must not be copied.
    #[inline]
    pub(super) fn at(&mut self, part: &[u8]) {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text);
        // Texts with ranges have less than 4 GiB.
        self.place = WordRange {
            start: start as u32,
            end: start.wrapping_add(part.len()) as u32,
        };
    }

    /// Emits all runs of a window, except those that the kernel lists as apart: for these, calls
    /// `apart` with the range in the window. `text` is the text of the window.
    pub(super) fn runs(
        &mut self,
        runs: &Runs,
        text: &[u8],
        apart: &mut impl FnMut(Range<usize>, &mut Sink<'a>),
    ) {
        if let TokenOutput::Hashes { out, wide: false } = &mut self.output {
            let hashes = runs.hashes();
            let mut next = 0;
            out.short.reserve(hashes.len());
            if runs.apart().is_empty() {
                out.short.extend_from_slice(hashes);
                return;
            }
            for &ordinal in runs.apart() {
                let ordinal = usize::from(ordinal);
                if let TokenOutput::Hashes { out, .. } = &mut self.output {
                    out.short.extend_from_slice(&hashes[next..ordinal]);
                }
                apart(runs.range(ordinal), self);
                next = ordinal + 1;
            }
            if let TokenOutput::Hashes { out, .. } = &mut self.output {
                out.short.extend_from_slice(&hashes[next..]);
            }
        } else {
            let mut listed = runs.apart().iter().copied().map(usize::from).peekable();
            for ordinal in 0..runs.len() {
                if listed.next_if_eq(&ordinal).is_some() {
                    apart(runs.range(ordinal), self);
                } else {
                    self.at(&text[runs.range(ordinal)]);
                    self.word(runs.bytes(ordinal));
                }
            }
        }
    }

    /// Emits a folded word.
    #[inline]
    pub(super) fn word(&mut self, word: &[u8]) {
        emit(&mut self.output, word, self.place);
    }

    /// Emits an ASCII word, folded or not.
    pub(super) fn ascii_word(&mut self, word: &[u8]) {
        for part in word.chunks(PART_BYTES) {
            let start = self.word.len();
            self.word.extend_from_slice(part);
            self.word[start..].make_ascii_lowercase();
            self.hash_long_word();
        }
        self.end();
    }

    /// Folds a word, or a part of one, and appends it to the current word.
    pub(super) fn folded_part(&mut self, part: &str, folder: &mut Folder) {
        let mut rest = part;
        while !rest.is_empty() {
            let bytes = folder.cluster(rest);
            folder
                .characters()
                .iter()
                .for_each(|character| self.push(*character));
            rest = &rest[bytes..];
        }
    }

    /// Appends a character, which needs no folding, to the current word.
    #[inline]
    pub(super) fn push(&mut self, character: char) {
        push(character, self.word);
        self.hash_long_word();
    }

    /// Hashes and drops the bytes so far if the current word is long and only its hash is
    /// requested.
    #[inline]
    fn hash_long_word(&mut self) {
        if self.word.len() >= PART_BYTES && matches!(self.output, TokenOutput::Hashes { .. }) {
            let giant = self.giant.get_or_insert_with(|| Box::new(Xxh3::new()));
            giant.update(self.word);
            self.word.clear();
        }
    }

    /// Emits the current word, if there is one.
    #[inline]
    pub(super) fn end(&mut self) {
        if let Some(giant) = &mut self.giant {
            giant.update(self.word);
            if let TokenOutput::Hashes { out, wide } = &mut self.output {
                out.short.push(giant.digest());
                if *wide {
                    out.long.push(giant.digest128());
                }
            }
            self.giant = None;
        } else if !self.word.is_empty() {
            emit(&mut self.output, self.word, self.place);
        }
        self.word.clear();
    }
}

#[inline]
fn emit(output: &mut TokenOutput<'_>, word: &[u8], place: WordRange) {
    match output {
        TokenOutput::Hashes { out, wide } => {
            out.short.push(xxh3_64(word));
            if *wide {
                out.long.push(xxh3_128(word));
            }
        }
        TokenOutput::Words { visit } => visit(word),
        TokenOutput::Ranges { out } => out.push(place),
    }
}
