//! Digests of texts and of their words.
//!
//! Digests are 128-bit xxh3 hashes: stable, fast, and practically free of accidental collisions
//! (10^12 documents have one with probability 10^-15). They do not resist deliberate collisions.

use md5::{Digest, Md5};
use sha1::Sha1;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::sketch::method::parameter::Domain;
use crate::text::shingles::little_endian;

/// The digest of a text's bytes.
pub fn of_text(text: &[u8]) -> u128 {
    xxh3_128(text)
}

/// The digest of a normalised text: that of the little-endian 64-bit hashes of its words, in order.
///
/// Texts with the same folded words in the same order have equal digests.
pub fn of_words(words: &[u64]) -> u128 {
    xxh3_128(&little_endian(words))
}

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// The 128 bits of MD5.
    Md5,
    /// The 160 bits of SHA-1.
    Sha1,
    /// The 128-bit xxh3 hash, little-endian.
    Xxh3,
}

impl Algorithm {
    /// The names of the algorithms.
    pub(super) const NAMES: Domain = Domain::Word(&["md5", "sha1", "xxh3-128"]);

    /// The algorithm with the name.
    pub(crate) fn named(name: &str) -> Algorithm {
        match name {
            "md5" => Algorithm::Md5,
            "sha1" => Algorithm::Sha1,
            _ => Algorithm::Xxh3,
        }
    }

    /// The name of the algorithm.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Md5 => "md5",
            Algorithm::Sha1 => "sha1",
            Algorithm::Xxh3 => "xxh3-128",
        }
    }

    /// The length of a digest in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Algorithm::Md5 | Algorithm::Xxh3 => 16,
            Algorithm::Sha1 => 20,
        }
    }

    /// Appends the digest of the concatenated parts.
    pub(crate) fn append<'a>(self, parts: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        match self {
            Algorithm::Md5 => out.extend_from_slice(&cryptographic::<Md5>(parts)),
            Algorithm::Sha1 => out.extend_from_slice(&cryptographic::<Sha1>(parts)),
            Algorithm::Xxh3 => {
                let mut hash = Xxh3::new();
                parts.for_each(|part| hash.update(part));
                out.extend_from_slice(&hash.digest128().to_le_bytes());
            }
        }
    }
}

fn cryptographic<'a, D: Digest>(parts: impl Iterator<Item = &'a [u8]>) -> md5::digest::Output<D> {
    let mut hash = D::new();
    parts.for_each(|part| hash.update(part));
    hash.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn known_values() {
        // Of the reference implementation.
        assert_eq!(of_text(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(of_text(b"a"), 0xa96f_af70_5af1_6834_e6c6_32b6_1e96_4e1f);
        assert_eq!(of_words(&[]), of_text(b""));
    }

    #[test]
    fn words_are_hashed_little_endian() {
        let words = [b"the", b"cat"].map(|word| xxh3_64(word));
        let bytes = words.map(u64::to_le_bytes).concat();
        assert_eq!(of_words(&words), of_text(&bytes));
        assert_ne!(of_words(&words), of_words(&[words[1], words[0]]));
    }

    #[test]
    fn algorithms_by_their_test_vectors() {
        let digest = |name: &str| {
            let algorithm = Algorithm::named(name);
            let mut out = Vec::new();
            algorithm.append([&b"a"[..], b"", b"bc"].into_iter(), &mut out);
            assert_eq!(out.len(), algorithm.bytes());
            let digits = out.iter().map(|byte| format!("{byte:02x}"));
            digits.collect::<String>()
        };
        // RFC 1321 and RFC 3174.
        assert_eq!(digest("md5"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(digest("sha1"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let xxh3 = of_text(b"abc").to_be();
        assert_eq!(digest("xxh3-128"), format!("{xxh3:032x}"));
    }
}
