//! A window of text and its words.

use std::ops::Range;

/// The maximum number of bytes of text in a window.
pub const WINDOW_BYTES: usize = 4096;
/// The maximum number of letters of a key.
pub const KEY_LETTERS: usize = 12;
/// The key of every word that is too long for one of its own; greater than all of those.
pub const LONG: u64 = 1 << 63;

/// Zeros after the text: one more block, and the bytes that a 16-byte load may read beyond it.
const PADDING: usize = 128;
/// The maximum number of words of a window, and space for a whole block of stores after them.
const WORDS: usize = WINDOW_BYTES / 2 + 64;
/// The maximum number of words of a window that are too long for a key, and spare space.
const LONG_WORDS: usize = WINDOW_BYTES / (KEY_LETTERS + 2) + 16;

/// The words found in a window of text, as a structure of arrays.
#[repr(C, align(64))]
pub struct Words {
    /// A copy of the text, in which a kernel may have replaced bytes.
    pub(super) text: [u8; WINDOW_BYTES + PADDING],
    /// The start of each word and, after it, its end.
    pub(super) borders: [[u16; 2]; WORDS],
    pub(super) keys: [u64; WORDS],
    /// The ordinals of words too long for a key.
    pub(super) long: [u16; LONG_WORDS],
    pub(super) long_len: usize,
    pub(super) len: usize,
    find: Find,
}

/// Finds the words of a text before the first byte of a given value, if one is given; returns the
/// number of bytes before it.
pub(super) type Find = fn(&mut Words, &[u8], Option<u8>) -> usize;

impl Words {
    /// An empty window, filled by the kernel `find`.
    pub(super) fn with_kernel(find: Find) -> Box<Words> {
        Box::new(Words {
            text: [0; WINDOW_BYTES + PADDING],
            borders: [[0; 2]; WORDS],
            keys: [0; WORDS],
            long: [0; LONG_WORDS],
            long_len: 0,
            len: 0,
            find,
        })
    }

    /// Finds the words of `text` before the first byte `stop`, or of the whole text. Words end at
    /// its ends. Returns the number of bytes before `stop`.
    ///
    /// # Panics
    /// If `text` is longer than [`WINDOW_BYTES`].
    pub fn fill(&mut self, text: &[u8], stop: Option<u8>) -> usize {
        assert!(text.len() <= WINDOW_BYTES, "{} bytes", text.len());
        (self.find)(self, text, stop)
    }

    /// Copies `text` up to the first byte `stop`, and puts zeros after it; returns the number of
    /// bytes copied.
    pub(super) fn copy(&mut self, text: &[u8], stop: Option<u8>) -> usize {
        let end = stop.and_then(|stop| memchr::memchr(stop, text));
        let end = end.unwrap_or(text.len());
        self.text[..end].copy_from_slice(&text[..end]);
        self.text[end..][..PADDING].fill(0);
        end
    }

    /// Removes the last word if it ends at `end`. Returns its start, or `end` if there is none.
    pub fn drop_word_that_ends_at(&mut self, end: usize) -> usize {
        match self.borders[..self.len].last() {
            Some(&[start, last_end]) if usize::from(last_end) == end => {
                self.len -= 1;
                if self.long_words().last().copied().map(usize::from) == Some(self.len) {
                    self.long_len -= 1;
                }
                usize::from(start)
            }
            _ => end,
        }
    }

    /// The keys of the words, in text order; [`LONG`] for a word that is too long.
    pub fn keys(&self) -> &[u64] {
        &self.keys[..self.len]
    }

    /// The ordinals of the words too long for a key, ascending.
    pub fn long_words(&self) -> &[u16] {
        &self.long[..self.long_len]
    }

    /// The range of the `ordinal`-th word in the window.
    ///
    /// # Panics
    /// If the window has no such word.
    pub fn range(&self, ordinal: usize) -> Range<usize> {
        let [start, end] = self.borders[..self.len][ordinal];
        usize::from(start)..usize::from(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;

    fn check(text: &[u8]) {
        check_until(text, None);
        check_until(text, text.last().copied());
    }

    fn check_until(text: &[u8], stop: Option<u8>) {
        let mut oracle = Words::new(Level::Scalar);
        let end = oracle.fill(text, stop);
        let before = text.iter().position(|&byte| Some(byte) == stop);
        assert_eq!(end, before.unwrap_or(text.len()));
        for level in Level::available() {
            let mut words = Words::new(level);
            // The contents of an earlier, longer window must not affect the result.
            words.fill(&[b'q'; WINDOW_BYTES], None);
            assert_eq!(words.fill(text, stop), end, "{level}");
            assert_eq!(words.keys(), oracle.keys(), "{level}");
            assert_eq!(words.long_words(), oracle.long_words(), "{level}");
            for ordinal in 0..oracle.len {
                assert_eq!(words.range(ordinal), oracle.range(ordinal), "{level}");
            }
        }
    }

    fn ranges(words: &Words) -> impl Iterator<Item = Range<usize>> {
        (0..words.len).map(|ordinal| words.range(ordinal))
    }

    /// The definition, by the standard library.
    fn definition(text: &[u8]) -> Vec<&[u8]> {
        let runs = text.split(|byte| !byte.is_ascii_alphabetic());
        runs.filter(|run| !run.is_empty()).collect()
    }

    proptest! {
        /// Promise (Reproducible answers): Every fast kernel gives the results of its scalar
        /// version
        #[test]
        fn levels_agree_on_any_bytes(text in prop::collection::vec(any::<u8>(), 0..WINDOW_BYTES)) {
            check(&text);
        }

        #[test]
        fn levels_agree_on_letters(text in "[a-zA-Z '\\x00\\x7f\n]{0,300}") {
            check(text.as_bytes());
        }

        #[test]
        fn scalar_is_the_definition(text in "[a-zA-Z@\\[`{ \u{ff}]{0,300}") {
            let mut words = Words::new(Level::Scalar);
            words.fill(text.as_bytes(), None);
            let found: Vec<&[u8]> = ranges(&words).map(|range| &text.as_bytes()[range]).collect();
            prop_assert_eq!(found, definition(text.as_bytes()));
        }

        #[test]
        fn keys_order_as_words(a in "[a-z]{1,12}", b in "[a-zA-Z]{1,12}") {
            let mut words = Words::new(Level::Scalar);
            words.fill(format!("{a} {b}").as_bytes(), None);
            let order = a.as_bytes().cmp(b.to_ascii_lowercase().as_bytes());
            prop_assert_eq!(words.keys()[0].cmp(&words.keys()[1]), order);
        }
    }

    #[test]
    fn every_length_at_every_place() {
        for padding in 0..130 {
            for letters in 0..140 {
                let text = [vec![b'-'; padding], vec![b'X'; letters]].concat();
                check(&text);
                check(&[&text, &b" y"[..]].concat());
            }
        }
    }

    #[test]
    fn full_windows() {
        check(&[b'a'; WINDOW_BYTES]);
        check(&b"a ".repeat(WINDOW_BYTES / 2));
        check(&b" a".repeat(WINDOW_BYTES / 2));
        check(&[b' '; WINDOW_BYTES]);
        check(&b"thirteenlette ".repeat(WINDOW_BYTES / 14));
        check(&b"a thirteenlette ".repeat(WINDOW_BYTES / 16));
    }

    #[test]
    fn long_words_are_listed() {
        let mut words = Words::new(Level::best());
        words.fill(b"one twelveletter thirteenletter x", None);
        assert_eq!(words.long_words(), [2]);
        assert_eq!(words.keys()[2], LONG);
        assert_eq!(words.range(2), 17..31);
        assert_eq!(words.keys()[1] & LONG, 0);
    }
}
