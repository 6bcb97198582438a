//! Which documents are equal, to the byte or word for word?
//!
//! Digests are 128-bit xxh3 hashes: stable, fast, and without accidents among any number of
//! documents there can be (10^12 of them have a pair of equal digests with probability 10^-15).
//! They are no defence against someone who builds collisions on purpose.

use xxhash_rust::xxh3::xxh3_128;

use crate::text::shingles::little_endian;

/// The digest of a text's bytes.
pub fn of_text(text: &[u8]) -> u128 {
    xxh3_128(text)
}

/// The digest of a normalised text: of the little-endian 64-bit hashes of its words, in order.
///
/// Texts that differ in case, punctuation or white space only have the same.
pub fn of_words(words: &[u64]) -> u128 {
    xxh3_128(&little_endian(words))
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
}
