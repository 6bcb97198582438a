//! The end of a sketch that verifies exactly: which words the document has, and its set of shingles.
//!
//! | bytes | |
//! |---|---|
//! | 16 | the [digest](of_words) of the words, little-endian |
//! | 16 | the [digest](of_text) of the text |
//! | then | the [list](shingle_list) of the shingles |
//! | 4 | the length of all this, so that it can be found from the end of a sketch |

use super::shingle_list;
use crate::sketch::digest::{of_text, of_words};
use crate::sketch::method::TokenizedDocument;

/// The bytes of the digests.
const DIGESTS: usize = 32;
/// The bytes of the length.
const LENGTH: usize = 4;

/// Appends the trailer of a document whose ascending set of shingles is `set` to `out`.
///
/// # Panics
/// If the set has 2³² hashes or more.
pub(super) fn append(document: TokenizedDocument<'_>, set: &[u64], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(of_words(document.short).to_le_bytes());
    out.extend(of_text(document.text).to_le_bytes());
    shingle_list::append(set, out);
    let length = u32::try_from(out.len() - start + LENGTH).expect("a trailer of less than 4 GiB");
    out.extend(length.to_le_bytes());
}

/// The length of the trailer at the end of `sketch`, by its last bytes: at most that of the sketch.
pub(super) fn length(sketch: &[u8]) -> usize {
    let length = sketch.last_chunk::<LENGTH>();
    let length = length.map_or(0, |length| u32::from_le_bytes(*length) as usize);
    length.min(sketch.len())
}

/// What a trailer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer<'a> {
    /// The digest of the words.
    pub words: u128,
    /// The digest of the text.
    pub text: u128,
    /// The list of shingles.
    pub list: &'a [u8],
}

impl<'a> Trailer<'a> {
    /// Reads a trailer; `None` if `bytes` are too short for one, or of another length than they say.
    /// The list is not checked.
    pub fn read(bytes: &'a [u8]) -> Option<Trailer<'a>> {
        let (rest, length) = bytes.split_last_chunk::<LENGTH>()?;
        if u32::from_le_bytes(*length) as usize != bytes.len() {
            return None;
        }
        let (words, rest) = rest.split_first_chunk::<{ DIGESTS / 2 }>()?;
        let (text, list) = rest.split_first_chunk::<{ DIGESTS / 2 }>()?;
        shingle_list::count(list)?;
        Some(Trailer {
            words: u128::from_le_bytes(*words),
            text: u128::from_le_bytes(*text),
            list,
        })
    }

    /// The number of shingles.
    pub fn shingles(&self) -> usize {
        shingle_list::count(self.list).unwrap_or(0)
    }

    /// Whether the list is one.
    pub fn has_list(&self) -> bool {
        shingle_list::is_list(self.list)
    }

    /// Replaces the content of `set` by the shingles; `false` if the list is none.
    pub fn read_set(&self, set: &mut Vec<u64>) -> bool {
        shingle_list::read(self.list, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn trailers_are_read_back(
            text in prop::collection::vec(any::<u8>(), 0..50),
            words in prop::collection::vec(any::<u64>(), 0..50),
            set in prop::collection::btree_set(any::<u64>(), 0..50),
            before in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let document = TokenizedDocument {
                text: &text,
                short: &words,
                ..TokenizedDocument::default()
            };
            let set: Vec<u64> = set.into_iter().collect();
            let mut sketch = before.clone();
            append(document, &set, &mut sketch);
            let (plain, trailer) = sketch.split_at(sketch.len() - length(&sketch));
            prop_assert_eq!(plain, &*before);
            let read = Trailer::read(trailer).unwrap();
            prop_assert_eq!((read.words, read.text), (of_words(&words), of_text(&text)));
            prop_assert_eq!(read.shingles(), set.len());
            let mut read_back = Vec::new();
            prop_assert!(read.read_set(&mut read_back));
            prop_assert_eq!(read_back, set);
        }

        #[test]
        fn other_bytes_are_no_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..100),
            count in 0..9u32,
            is_long_enough: bool,
        ) {
            prop_assert!(length(&bytes) <= bytes.len());
            if is_long_enough && bytes.len() >= DIGESTS + 2 * LENGTH {
                bytes[DIGESTS..][..4].copy_from_slice(&count.to_le_bytes());
                let (end, whole) = (bytes.len() - LENGTH, bytes.len() as u32);
                bytes[end..].copy_from_slice(&whole.to_le_bytes());
            }
            if let Some(trailer) = Trailer::read(&bytes) {
                let mut set = Vec::new();
                let _ = trailer.read_set(&mut set);
                prop_assert!(set.len() <= trailer.shingles());
            }
        }
    }
}
