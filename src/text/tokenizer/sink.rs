//! Where words go: to their hashes, or to a visitor.

use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::WordHashes;
use super::fold::{push, push_folded};
use crate::kernel::runs::Runs;

/// The part of a long word that is kept before it goes into a running hash.
const PART_BYTES: usize = 4096;

/// What is wanted of words.
pub(super) enum Take<'a> {
    Hashes { out: &'a mut WordHashes, wide: bool },
    Words { visit: &'a mut dyn FnMut(&[u8]) },
}

/// Takes words, whole or piece by piece.
pub(super) struct Sink<'a> {
    take: Take<'a>,
    /// The word that is being put together, or what of it is not hashed yet.
    word: &'a mut Vec<u8>,
    /// The hash of what was longer than a part.
    giant: Option<Box<Xxh3>>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(take: Take<'a>, buffer: &'a mut Vec<u8>) -> Sink<'a> {
        buffer.clear();
        Sink {
            take,
            word: buffer,
            giant: None,
        }
    }

    /// Takes all runs of a window; those that are apart by way of `apart`, as places in the window.
    pub(super) fn runs(
        &mut self,
        runs: &Runs,
        apart: &mut impl FnMut(Range<usize>, &mut Sink<'a>),
    ) {
        if let Take::Hashes { out, wide: false } = &mut self.take {
            let hashes = runs.hashes();
            let mut next = 0;
            out.short.reserve(hashes.len());
            if runs.apart().is_empty() {
                out.short.extend_from_slice(hashes);
                return;
            }
            for &ordinal in runs.apart() {
                let ordinal = usize::from(ordinal);
                if let Take::Hashes { out, .. } = &mut self.take {
                    out.short.extend_from_slice(&hashes[next..ordinal]);
                }
                apart(runs.range(ordinal), self);
                next = ordinal + 1;
            }
            if let Take::Hashes { out, .. } = &mut self.take {
                out.short.extend_from_slice(&hashes[next..]);
            }
        } else {
            let mut listed = runs.apart().iter().copied().map(usize::from).peekable();
            for ordinal in 0..runs.len() {
                if listed.next_if_eq(&ordinal).is_some() {
                    apart(runs.range(ordinal), self);
                } else {
                    self.word(runs.bytes(ordinal));
                }
            }
        }
    }

    /// Takes a folded word.
    #[inline]
    pub(super) fn word(&mut self, word: &[u8]) {
        take_word(&mut self.take, word);
    }

    /// Takes an ASCII word, folded or not.
    pub(super) fn ascii_word(&mut self, word: &[u8]) {
        for part in word.chunks(PART_BYTES) {
            let start = self.word.len();
            self.word.extend_from_slice(part);
            self.word[start..].make_ascii_lowercase();
            self.relieve();
        }
        self.end();
    }

    /// Takes a word that is not folded yet.
    pub(super) fn folded_word(&mut self, word: &str) {
        if word.is_ascii() {
            return self.ascii_word(word.as_bytes());
        }
        word.chars()
            .for_each(|character| self.push_folded(character));
        self.end();
    }

    /// Takes a character, which is not folded yet, as a word.
    #[inline]
    pub(super) fn folded_character(&mut self, character: char) {
        push_folded(character, self.word);
        self.end();
    }

    /// Adds a character, which is not folded yet, to the word that is being put together.
    #[inline]
    fn push_folded(&mut self, character: char) {
        push_folded(character, self.word);
        self.relieve();
    }

    /// Adds a character, which needs no folding, to the word that is being put together.
    #[inline]
    pub(super) fn push(&mut self, character: char) {
        push(character, self.word);
        self.relieve();
    }

    /// Moves the word so far into a running hash if it is long and only its hash is wanted.
    #[inline]
    fn relieve(&mut self) {
        if self.word.len() >= PART_BYTES && matches!(self.take, Take::Hashes { .. }) {
            let giant = self.giant.get_or_insert_with(|| Box::new(Xxh3::new()));
            giant.update(self.word);
            self.word.clear();
        }
    }

    /// Ends the word that is being put together, if there is one.
    #[inline]
    pub(super) fn end(&mut self) {
        if let Some(giant) = &mut self.giant {
            giant.update(self.word);
            if let Take::Hashes { out, wide } = &mut self.take {
                out.short.push(giant.digest());
                if *wide {
                    out.long.push(giant.digest128());
                }
            }
            self.giant = None;
        } else if !self.word.is_empty() {
            take_word(&mut self.take, self.word);
        }
        self.word.clear();
    }
}

#[inline]
fn take_word(take: &mut Take<'_>, word: &[u8]) {
    match take {
        Take::Hashes { out, wide } => {
            out.short.push(xxh3_64(word));
            if *wide {
                out.long.push(xxh3_128(word));
            }
        }
        Take::Words { visit } => visit(word),
    }
}
