//! A window of text and its runs.

use std::ops::Range;

/// The maximum number of bytes of text in a window.
pub const WINDOW_BYTES: usize = 4096;
/// The maximum number of bytes of a run that the kernel hashes.
pub const HASHED_BYTES: usize = 16;

/// Zeros before the text, for loads that end at the end of a run.
pub(super) const HEAD: usize = 16;
/// Zeros after the text: one more block, and the bytes that a load may read beyond it.
const PADDING: usize = 128;
/// The number of blocks of 64 bytes of a window, and two more.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(super) const BLOCKS: usize = WINDOW_BYTES / 64 + 2;
/// The maximum number of runs of a window, and space for a whole block of stores after them.
const RUNS: usize = WINDOW_BYTES / 2 + 64;

/// The bytes that form runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// ASCII letters.
    Letters,
    /// ASCII letters and digits, and every byte from 0x80 on, which the caller classifies.
    LettersDigitsAndBeyond,
    /// Those, the underscore, and each of `' " . , : ;` between two of all these: the characters
    /// that may join words in Unicode Standard Annex #29.
    Joined,
}

impl Class {
    /// Whether `byte` may occur in a run.
    #[inline]
    pub fn contains(self, byte: u8) -> bool {
        self.stands_alone(byte) || self.joins(byte)
    }

    /// Whether `byte` belongs to a run, independent of its neighbours.
    #[inline]
    pub(super) fn stands_alone(self, byte: u8) -> bool {
        match self {
            Class::Letters => byte.is_ascii_alphabetic(),
            Class::LettersDigitsAndBeyond => byte.is_ascii_alphanumeric() || !byte.is_ascii(),
            Class::Joined => byte.is_ascii_alphanumeric() || !byte.is_ascii() || byte == b'_',
        }
    }

    /// Whether `byte` belongs to a run if both neighbours do independently.
    #[inline]
    pub(super) fn joins(self, byte: u8) -> bool {
        self == Class::Joined && matches!(byte, b'\'' | b'"' | b'.' | b',' | b':' | b';')
    }

    /// Whether all bytes of a run are ASCII letters and digits.
    #[inline]
    pub(super) fn is_plain(self, run: &[u8]) -> bool {
        match self {
            Class::Letters => true,
            Class::LettersDigitsAndBeyond => run.is_ascii(),
            Class::Joined => run.iter().all(u8::is_ascii_alphanumeric),
        }
    }
}

/// A folded copy of a window of text and the runs found in it, as a structure of arrays.
#[repr(C, align(64))]
pub struct Runs {
    pub(super) padded: [u8; HEAD + WINDOW_BYTES + PADDING],
    pub(super) starts: [u16; RUNS],
    pub(super) ends: [u16; RUNS],
    pub(super) hashes: [u64; RUNS],
    /// The ordinals of runs that are apart.
    pub(super) apart: [u16; RUNS],
    pub(super) apart_len: usize,
    pub(super) text_len: usize,
    pub(super) len: usize,
    pub(super) class: Class,
    find: fn(&mut Runs),
}

impl Runs {
    /// An empty window, filled by the kernel `find`.
    pub(super) fn with_kernel(class: Class, find: fn(&mut Runs)) -> Box<Runs> {
        Box::new(Runs {
            padded: [0; HEAD + WINDOW_BYTES + PADDING],
            starts: [0; RUNS],
            ends: [0; RUNS],
            hashes: [0; RUNS],
            apart: [0; RUNS],
            apart_len: 0,
            text_len: 0,
            len: 0,
            class,
            find,
        })
    }

    /// The bytes that runs are made of.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Copies and folds `text` and finds its runs, which end at the ends of `text`.
    ///
    /// # Panics
    /// If `text` is longer than [`WINDOW_BYTES`].
    pub fn fill(&mut self, text: &[u8]) {
        assert!(text.len() <= WINDOW_BYTES, "a window of text is too long");
        let (copy, behind) = self.padded[HEAD..].split_at_mut(text.len());
        copy.copy_from_slice(text);
        behind[..PADDING].fill(0);
        self.text_len = text.len();
        (self.find)(self);
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The hashes of the runs, in text order; unspecified for those that are apart.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// The ordinals of the runs that are apart, ascending.
    pub fn apart(&self) -> &[u16] {
        &self.apart[..self.apart_len]
    }

    /// The folded bytes of the `ordinal`-th run.
    ///
    /// # Panics
    /// If the window has no such run.
    #[inline]
    pub fn bytes(&self, ordinal: usize) -> &[u8] {
        let range = self.range(ordinal);
        &self.padded[HEAD + range.start..HEAD + range.end]
    }

    /// The range of the `ordinal`-th run in the window.
    ///
    /// # Panics
    /// If the window has no such run.
    #[inline]
    pub fn range(&self, ordinal: usize) -> Range<usize> {
        let (starts, ends) = (&self.starts[..self.len], &self.ends[..self.len]);
        usize::from(starts[ordinal])..usize::from(ends[ordinal])
    }
}

/// The bytes of a block of 64 that belong to runs: those of `alone`, and those of `joints` between
/// two such. `before` is 1 if the byte before the block is one of `alone`; `behind` is whether the
/// byte after it is.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn joined(alone: u64, joints: u64, before: u64, behind: bool) -> u64 {
    let left = alone << 1 | before;
    let right = alone >> 1 | u64::from(behind) << 63;
    alone | joints & left & right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    const CLASSES: [Class; 3] = [Class::Letters, Class::LettersDigitsAndBeyond, Class::Joined];

    /// The definition, by the standard library.
    fn definition(class: Class, text: &[u8]) -> Vec<Vec<u8>> {
        let stands = |place: Option<usize>| {
            let byte = place.and_then(|place| text.get(place));
            byte.is_some_and(|&byte| class.stands_alone(byte))
        };
        let joins = |place: usize| {
            class.joins(text[place]) && stands(place.checked_sub(1)) && stands(Some(place + 1))
        };
        let places: Vec<usize> = (0..text.len()).collect();
        let runs = places.split(|&place| !stands(Some(place)) && !joins(place));
        runs.filter(|run| !run.is_empty())
            .map(|run| text[run[0]..run[0] + run.len()].to_ascii_lowercase())
            .collect()
    }

    fn check(text: &[u8]) {
        for class in CLASSES {
            let expected = definition(class, text);
            let apart = |&ordinal: &usize| {
                let run = &expected[ordinal];
                run.len() > 16 || !run.iter().all(u8::is_ascii_alphanumeric)
            };
            let expected_apart: Vec<usize> = (0..expected.len()).filter(apart).collect();
            for level in Level::available() {
                let mut runs = Runs::new(class, level);
                // The contents of an earlier, longer window must not affect the result.
                runs.fill(&[b'q'; WINDOW_BYTES]);
                runs.fill(text);
                assert_eq!(runs.len(), expected.len(), "{level}");
                let apart = runs.apart().iter().copied().map(usize::from);
                assert!(apart.eq(expected_apart.iter().copied()), "{level}");
                for (ordinal, run) in expected.iter().enumerate() {
                    assert_eq!(runs.bytes(ordinal), run, "{level}");
                    if !expected_apart.contains(&ordinal) {
                        assert_eq!(runs.hashes()[ordinal], xxh3_64(run), "{level} {run:?}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..WINDOW_BYTES)) {
            check(&text);
        }

        #[test]
        fn words(text in "[a-zA-Z0-9 \"'+,./:;<@^_\\[`{\\x00\\x7fé]{0,300}") {
            check(text.as_bytes());
        }

        #[test]
        fn words_of_every_length(words in prop::collection::vec("[a-zA-Z0-9]{1,18}", 0..200)) {
            check(words.join(" ").as_bytes());
        }
    }

    #[test]
    fn every_byte_alone() {
        for byte in 0..=255 {
            check(&[byte]);
            check(&[b'a', byte, b'b']);
        }
    }

    #[test]
    fn a_byte_beyond_at_every_place() {
        for length in 1..40 {
            for place in 0..length {
                let mut run = vec![b'X'; length];
                run[place] = 0x80;
                check(&run);
                // Neighbours that are not ASCII do not make a run apart.
                check(&[b"\xff ", &vec![b'X'; length][..], b" \xff"].concat());
            }
        }
    }

    #[test]
    fn every_length_at_every_place() {
        for padding in 0..130 {
            for letters in (0..24).chain(60..70).chain(124..132) {
                let text = [vec![b'-'; padding], vec![b'X'; letters]].concat();
                check(&text);
                check(&[&text, &b" y"[..]].concat());
            }
        }
    }

    #[test]
    fn a_joint_at_every_place() {
        for padding in 0..70 {
            for joint in [&b"'"[..], b"_", b"..", b",", b":x", b"\"", b"; ", b"'\xff"] {
                for (before, behind) in [("", "b"), ("a", ""), ("a", "b"), ("a_", "\u{e9}")] {
                    let text = [before.as_bytes(), joint, behind.as_bytes()].concat();
                    check(&[vec![b'-'; padding], text.clone()].concat());
                    check(&[vec![b'x'; padding], text.clone(), b" y".to_vec()].concat());
                }
            }
        }
    }

    #[test]
    fn full_windows() {
        check(&[b'A'; WINDOW_BYTES]);
        check(&[0xff; WINDOW_BYTES]);
        check(&b"A ".repeat(WINDOW_BYTES / 2));
        check(&b" 9".repeat(WINDOW_BYTES / 2));
        check(&b"\xe9 ".repeat(WINDOW_BYTES / 2));
        check(&[b' '; WINDOW_BYTES]);
        check(&b"sixteenlettersxx ".repeat(WINDOW_BYTES / 17));
        check(&b"seventeenlettersx ".repeat(WINDOW_BYTES / 18));
    }
}
