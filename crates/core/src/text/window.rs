//! Windows: consecutive parts of a document that split no word.

use std::ops::Range;

use crate::kernel::Level;
use crate::kernel::words::{LONG, WINDOW_BYTES, Words};

/// Splits documents into windows; holds buffers of about 30 KB.
pub struct Windows {
    words: Box<Words>,
}

/// A part of one document that splits no word, and its words.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    words: &'a Words,
    /// A word longer than a window, which forms a window by itself.
    giant: Option<&'a [u8]>,
    /// The offset of the window in the document.
    start: usize,
}

impl Windows {
    /// Creates the buffers; words are found by the kernel of `level`.
    pub fn new(level: Level) -> Windows {
        Windows {
            words: Words::new(level),
        }
    }

    /// Calls `visit` with the windows of `text` in order; every word is in exactly one of them.
    ///
    /// O(length) time. The text of each window is copied, except words longer than a window, which
    /// are passed on without a copy.
    pub fn for_each(&mut self, text: &[u8], mut visit: impl FnMut(Window<'_>)) {
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let bytes = whole_words(rest);
            if bytes > 0 {
                self.words.fill(&rest[..bytes]);
                visit(Window {
                    words: &self.words,
                    giant: None,
                    start,
                });
                start += bytes;
            } else {
                let letters = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count();
                visit(Window {
                    words: &self.words,
                    giant: Some(&rest[..letters]),
                    start,
                });
                start += letters;
            }
        }
    }
}

/// The length of the longest window at the start of `text` that splits no word.
fn whole_words(text: &[u8]) -> usize {
    if text.len() <= WINDOW_BYTES {
        return text.len();
    }
    if !text[WINDOW_BYTES].is_ascii_alphabetic() {
        return WINDOW_BYTES;
    }
    let last_separator = text[..WINDOW_BYTES]
        .iter()
        .rposition(|byte| !byte.is_ascii_alphabetic());
    last_separator.map_or(0, |place| place + 1)
}

impl Window<'_> {
    /// The keys of the words, in text order, as [`kernel::words`](crate::kernel::words) defines
    /// them.
    pub fn keys(&self) -> &[u64] {
        match self.giant {
            Some(_) => &[LONG],
            None => self.words.keys(),
        }
    }

    /// The ordinals of the words too long for a key, ascending.
    pub fn long_words(&self) -> impl Iterator<Item = usize> + '_ {
        let listed = match self.giant {
            Some(_) => &[0],
            None => self.words.long_words(),
        };
        listed.iter().map(|&ordinal| usize::from(ordinal))
    }

    /// The letters of a word that is too long for a key, in their original case. `ordinal` is one
    /// of [`long_words`](Window::long_words).
    ///
    /// # Panics
    /// May panic for other ordinals.
    pub fn long_word(&self, ordinal: usize) -> &[u8] {
        self.giant.unwrap_or_else(|| self.words.bytes(ordinal))
    }

    /// The range of a word that is too long for a key, in the document. `ordinal` is one of
    /// [`long_words`](Window::long_words).
    ///
    /// # Panics
    /// May panic for other ordinals.
    pub fn long_word_range(&self, ordinal: usize) -> Range<usize> {
        let within = self
            .giant
            .map_or_else(|| self.words.range(ordinal), |word| 0..word.len());
        self.start + within.start..self.start + within.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(level: Level, text: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        Windows::new(level).for_each(text, |window| {
            let mut long = window.long_words();
            for &key in window.keys() {
                found.push(if key == LONG {
                    let ordinal = long.next().unwrap();
                    let word = window.long_word(ordinal);
                    assert_eq!(word, &text[window.long_word_range(ordinal)]);
                    word.to_ascii_lowercase()
                } else {
                    letters(key)
                });
            }
            assert_eq!(long.next(), None);
        });
        found
    }

    fn letters(key: u64) -> Vec<u8> {
        let places = (0..12).map(|place| key >> (55 - 5 * place) & 31);
        places
            .take_while(|&letter| letter > 0)
            .map(|letter| b'`' + letter as u8)
            .collect()
    }

    fn definition(text: &[u8]) -> Vec<Vec<u8>> {
        let runs = text.split(|byte| !byte.is_ascii_alphabetic());
        runs.filter(|run| !run.is_empty())
            .map(<[u8]>::to_ascii_lowercase)
            .collect()
    }

    proptest! {
        #[test]
        fn every_word_is_in_one_window(
            pieces in prop::collection::vec(("[a-zA-Z]{0,40}|[a-z]{3000,9000}", "[ -@\\x00\\xff]{1,3}"), 0..60)
        ) {
            let text: String = pieces.iter().map(|(word, gap)| format!("{word}{gap}")).collect();
            for level in Level::available() {
                prop_assert_eq!(words(level, text.as_bytes()), definition(text.as_bytes()));
            }
        }
    }

    #[test]
    fn words_about_as_long_as_a_window() {
        for letters in WINDOW_BYTES - 3..WINDOW_BYTES + 3 {
            for tail in [&b""[..], b" ", b" tail", b"9", b"9x"] {
                for head in [&b""[..], b" ", b"head ", b"9"] {
                    let text = [head, &vec![b'L'; letters], tail].concat();
                    assert_eq!(words(Level::best(), &text), definition(&text));
                }
            }
        }
    }
}
