//! Runs of word bytes: stretches of text to spans and hashes.
//!
//! A *run* is a maximal run of the bytes of a [`Class`], with ASCII letters folded to lower case.
//! The hash of a run is the XXH3-64 of its bytes. A run of more than [`HASHED_BYTES`] bytes, or one
//! with a byte that is no ASCII letter or digit, is *apart*: it is listed and its hash is left to
//! the caller, who may want to cut it further.
//!
//! Source of the hash: Collet, the XXH3 section of the xxHash specification, inputs of up to 16
//! bytes. Source of the block step: see [`words`](super::words).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use std::ops::Range;

use super::Level;

/// Most bytes of text in a window.
pub const WINDOW_BYTES: usize = 4096;
/// Most bytes of a run whose hash the kernel computes.
pub const HASHED_BYTES: usize = 16;

/// Zeros before the text: the reach of a load that ends where a run does.
const HEAD: usize = 16;
/// Zeros behind the text: the block after the last one, and the reach of a load.
const PADDING: usize = 128;
/// Room for the most runs a window can hold, and for a whole block of stores behind them.
const RUNS: usize = WINDOW_BYTES / 2 + 64;

/// The bytes that words are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// ASCII letters.
    Letters,
    /// ASCII letters and digits, and every byte from 0x80 on, of which the caller knows better.
    LettersDigitsAndBeyond,
    /// Those, the underscore, and each of `' " . , : ;` that stands between two of all these: what
    /// may hold the words of Unicode Standard Annex #29 together.
    Joined,
}

impl Class {
    /// Whether `byte` may stand in a run.
    #[inline]
    pub fn contains(self, byte: u8) -> bool {
        self.stands_alone(byte) || self.joins(byte)
    }

    /// Whether `byte` stands in a run whatever its neighbours.
    #[inline]
    fn stands_alone(self, byte: u8) -> bool {
        match self {
            Class::Letters => byte.is_ascii_alphabetic(),
            Class::LettersDigitsAndBeyond => byte.is_ascii_alphanumeric() || !byte.is_ascii(),
            Class::Joined => byte.is_ascii_alphanumeric() || !byte.is_ascii() || byte == b'_',
        }
    }

    /// Whether `byte` stands in a run if both neighbours do by themselves.
    #[inline]
    fn joins(self, byte: u8) -> bool {
        self == Class::Joined && matches!(byte, b'\'' | b'"' | b'.' | b',' | b':' | b';')
    }

    /// Whether all bytes of a run are ASCII letters and digits.
    #[inline]
    fn is_plain(self, run: &[u8]) -> bool {
        match self {
            Class::Letters => true,
            Class::LettersDigitsAndBeyond => run.is_ascii(),
            Class::Joined => run.iter().all(u8::is_ascii_alphanumeric),
        }
    }
}

/// A folded copy of a stretch of text and the runs found in it, as a structure of arrays.
#[repr(C, align(64))]
pub struct Runs {
    padded: [u8; HEAD + WINDOW_BYTES + PADDING],
    starts: [u16; RUNS],
    ends: [u16; RUNS],
    hashes: [u64; RUNS],
    /// The ordinals of runs that are apart.
    apart: [u16; RUNS],
    apart_len: usize,
    text_len: usize,
    len: usize,
    class: Class,
    find: fn(&mut Runs),
}

impl Runs {
    /// An empty window whose runs will be found by the kernel of `level`, or by the scalar one
    /// where this processor lacks `level`.
    pub fn new(class: Class, level: Level) -> Box<Runs> {
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
            find: select(level),
        })
    }

    /// The bytes that runs are made of.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Copies and folds `text` and finds its runs; what lies outside `text` belongs to none.
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

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no run.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The hashes of the runs, in text order; without meaning for those that are apart.
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

    /// Where in the window the `ordinal`-th run stands.
    ///
    /// # Panics
    /// If the window has no such run.
    #[inline]
    pub fn range(&self, ordinal: usize) -> Range<usize> {
        let (starts, ends) = (&self.starts[..self.len], &self.ends[..self.len]);
        usize::from(starts[ordinal])..usize::from(ends[ordinal])
    }
}

/// Which of 64 bytes belong to runs: those of `alone`, and those of `joints` between two such.
/// `before` is 1 if the byte in front of the 64 stands alone, `behind` says so of the next one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn joined(alone: u64, joints: u64, before: u64, behind: bool) -> u64 {
    let left = alone << 1 | before;
    let right = alone >> 1 | u64::from(behind) << 63;
    alone | joints & left & right
}

fn select(level: Level) -> fn(&mut Runs) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the guard has just found the instructions on this processor.
        Level::Avx2 if level.is_available() => |runs| unsafe { avx2::find(runs) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx512 if level.is_available() => |runs| unsafe { avx512::find(runs) },
        _ => scalar::find,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                // What an earlier, fuller window left behind must not show.
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
                // Neighbours that are not ASCII do not set a run apart.
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
