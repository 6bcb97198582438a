//! The identity of a word.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::Xxh3;

/// A word of any length in 16 bytes.
///
/// Up to [`Term::LETTERS`] letters the term encodes the word: five bits per letter, the first in
/// bits 124..120, so that such terms sort like words. A longer word is the top bit and 127 bits of
/// its xxh3-128 hash; its letters have to be read from the text. (In real dumps, most runs of this
/// length are encoded data.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Term(u128);

const HASHED: u128 = 1 << 127;

impl Term {
    /// The maximum number of letters that a term encodes exactly.
    pub const LETTERS: usize = 25;

    /// The term of a [key](crate::kernel::words) other than `LONG`.
    pub fn from_key(key: u64) -> Term {
        Term(u128::from(key) << 65)
    }

    /// The key, if the word is short enough to have one.
    pub fn key(self) -> Option<u64> {
        (self.0 & (HASHED | ((1 << 65) - 1)) == 0).then_some((self.0 >> 65) as u64)
    }

    /// The term of a run of ASCII letters of either case.
    pub fn from_letters(letters: &[u8]) -> Term {
        if letters.len() > Term::LETTERS {
            return Term(hash(letters) | HASHED);
        }
        let packed = letters
            .iter()
            .fold(0, |term, letter| term << 5 | u128::from(letter & 31));
        Term(packed << (5 * (Term::LETTERS - letters.len())))
    }

    /// The word in lower case, unless it is longer than [`Term::LETTERS`].
    pub fn letters(self) -> Option<Vec<u8>> {
        let places = (0..Term::LETTERS).map(|place| (self.0 >> (120 - 5 * place)) as u8 & 31);
        let letters = places
            .take_while(|&letter| letter > 0)
            .map(|letter| b'`' + letter);
        (!self.is_hashed()).then(|| letters.collect())
    }

    /// The term as two numbers that sort like it.
    pub fn split(self) -> [u64; 2] {
        [(self.0 >> 64) as u64, self.0 as u64]
    }

    /// The inverse of [`split`](Term::split).
    pub fn join([high, low]: [u64; 2]) -> Term {
        Term(u128::from(high) << 64 | u128::from(low))
    }

    /// Whether the word is longer than [`Term::LETTERS`].
    pub fn is_hashed(self) -> bool {
        self.0 & HASHED != 0
    }

    /// 64 well-mixed bits, the same on every machine.
    pub fn mixed(self) -> u64 {
        let folded = (self.0 >> 65) as u64 ^ (self.0 as u64).rotate_left(23);
        let mixed = (folded ^ folded >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

/// The xxh3-128 of the folded letters, computed in pieces, since runs of letters may be gigabytes
/// long.
fn hash(letters: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    let mut folded = [0; 1024];
    for piece in letters.chunks(folded.len()) {
        let folded = &mut folded[..piece.len()];
        folded.copy_from_slice(piece);
        folded.make_ascii_lowercase();
        hasher.update(folded);
    }
    hasher.digest128()
}

impl fmt::Debug for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.letters() {
            Some(letters) => write!(out, "Term({})", letters.escape_ascii()),
            None => write!(out, "Term(#{:032x})", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn terms_are_words(a in "[a-zA-Z]{1,25}", b in "[a-z]{1,25}") {
            let (first, second) = (Term::from_letters(a.as_bytes()), Term::from_letters(b.as_bytes()));
            let folded = a.to_ascii_lowercase();
            prop_assert_eq!(first.cmp(&second), folded.as_bytes().cmp(b.as_bytes()));
            prop_assert_eq!(first.letters(), Some(folded.clone().into_bytes()));
            prop_assert_eq!(first.key().is_some(), a.len() <= 12);
            prop_assert_eq!(first.split().cmp(&second.split()), first.cmp(&second));
            prop_assert_eq!(Term::join(first.split()), first);
            if let Some(key) = first.key() {
                prop_assert_eq!(Term::from_key(key), first);
            }
        }
    }

    #[test]
    fn longer_words_are_hashed_without_case() {
        let (lower, upper) = (vec![b'x'; 5000], vec![b'X'; 5000]);
        let term = Term::from_letters(&lower);
        assert_eq!(term, Term::from_letters(&upper));
        assert_ne!(term, Term::from_letters(&lower[1..]));
        assert!(term.is_hashed() && term.letters().is_none() && term.key().is_none());
        assert!(Term::from_letters(&[b'z'; 25]) < Term::from_letters(&[b'a'; 26]));
    }
}
