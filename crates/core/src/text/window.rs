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
    text: &'a [u8],
    /// Whether the text is a single word longer than a window.
    is_giant: bool,
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
    /// O(length) time.
    pub fn for_each(&mut self, text: &[u8], visit: impl FnMut(Window<'_>)) {
        self.for_each_until(text, None, visit);
    }

    /// Calls `visit` with the windows before the first byte `stop`, which is no letter, or with all
    /// windows of `text`. Returns the number of bytes before `stop`. Some windows may have no words.
    ///
    /// O(bytes before `stop`) time.
    pub fn for_each_until(
        &mut self,
        text: &[u8],
        stop: Option<u8>,
        mut visit: impl FnMut(Window<'_>),
    ) -> usize {
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let bytes = rest.len().min(WINDOW_BYTES);
            let mut found = self.words.fill(&rest[..bytes], stop);
            let stopped = found < bytes;
            if !stopped && rest.get(bytes).is_some_and(u8::is_ascii_alphabetic) {
                found = self.words.drop_word_that_ends_at(bytes);
            }
            let is_giant = found == 0 && !stopped;
            if is_giant {
                let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
                found = letters.count();
            }
            visit(Window {
                words: &self.words,
                text: &rest[..found],
                is_giant,
                start,
            });
            start += found;
            if stopped {
                break;
            }
        }
        start
    }
}

impl Window<'_> {
    /// The keys of the words, in text order, as [`kernel::words`](crate::kernel::words) defines
    /// them.
    pub fn keys(&self) -> &[u64] {
        match self.is_giant {
            true => &[LONG],
            false => self.words.keys(),
        }
    }

    /// The ordinals of the words too long for a key, ascending.
    pub fn long_words(&self) -> impl Iterator<Item = usize> + '_ {
        let listed = match self.is_giant {
            true => &[0],
            false => self.words.long_words(),
        };
        listed.iter().map(|&ordinal| usize::from(ordinal))
    }

    /// The letters of a word that is too long for a key, in their original case. `ordinal` is one
    /// of [`long_words`](Window::long_words).
    ///
    /// # Panics
    /// May panic for other ordinals.
    pub fn long_word(&self, ordinal: usize) -> &[u8] {
        &self.text[self.range(ordinal)]
    }

    /// The range of a word that is too long for a key, in the document. `ordinal` is one of
    /// [`long_words`](Window::long_words).
    ///
    /// # Panics
    /// May panic for other ordinals.
    pub fn long_word_range(&self, ordinal: usize) -> Range<usize> {
        let within = self.range(ordinal);
        self.start + within.start..self.start + within.end
    }

    fn range(&self, ordinal: usize) -> Range<usize> {
        match self.is_giant {
            true => 0..self.text.len(),
            false => self.words.range(ordinal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(level: Level, text: &[u8]) -> Vec<Vec<u8>> {
        words_until(level, text, None).0
    }

    fn words_until(level: Level, text: &[u8], stop: Option<u8>) -> (Vec<Vec<u8>>, usize) {
        let mut found = Vec::new();
        let end = Windows::new(level).for_each_until(text, stop, |window| {
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
        (found, end)
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
    fn nothing_behind_a_stop_is_read() {
        let words = b"a Thirteenletter word, ".repeat(2 * WINDOW_BYTES / 20);
        for text in [words, vec![b'x'; 2 * WINDOW_BYTES + 200]] {
            let windows = [0, WINDOW_BYTES, 2 * WINDOW_BYTES];
            for place in windows
                .map(|end| end.saturating_sub(70)..end + 70)
                .into_iter()
                .flatten()
            {
                let mut text = text.clone();
                text[place] = 0x0c;
                text[place + 40] = 0x0c;
                for level in Level::available() {
                    let found = words_until(level, &text, Some(0x0c));
                    assert_eq!(found, (definition(&text[..place]), place), "{level}");
                }
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
