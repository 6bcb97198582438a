//! English words by rank: function words, then pronounceable invented words.
//!
//! An invented word alternates groups of consonants and vowels, selected by the bits of its number.
//! The number of groups (the shape) determines the number of bits:
//!
//! ```text
//! shape 0   onset nucleus coda                                13 bits   "plin"
//! shape 1   onset nucleus middle nucleus coda                 21 bits   "sorten"
//! shape 2   … two middles                                     29 bits   "lebictoun"
//! shape 3   … three middles                                   37 bits   "matorilenas"
//! shape 4   … four middles                                    45 bits   "dulacominerat"
//! ```
//!
//! The decomposition of a word into these groups is unique. So two numbers give the same word only if
//! their shapes and bits agree, and words of different ranks differ.

use std::sync::LazyLock;

use ahash::HashSet;

use super::function_words::FUNCTION_WORDS;
use crate::random::mix;

const ONSETS: [&str; 32] = [
    "", "b", "c", "d", "f", "g", "h", "j", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "ch",
    "cl", "cr", "dr", "fl", "gr", "pl", "pr", "sh", "sp", "st", "str", "th", "tr",
];
const MIDDLES: [&str; 32] = [
    "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "k", "ct", "ll", "mb", "mp",
    "nd", "ng", "nt", "pl", "rd", "rm", "rn", "rs", "rt", "ss", "st", "th", "tr", "tt",
];
const CODAS: [&str; 32] = [
    "", "c", "ck", "d", "f", "g", "k", "l", "ll", "ly", "m", "n", "nd", "ng", "nt", "p", "r", "rd",
    "rs", "rt", "s", "sh", "ss", "st", "t", "th", "ty", "w", "x", "y", "ns", "mp",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];

static TAKEN: LazyLock<HashSet<&[u8]>> =
    LazyLock::new(|| FUNCTION_WORDS.iter().map(|word| word.as_bytes()).collect());

/// For numbers below a limit: how many in 256 have the shapes 0, 1, 2 and 3; the others have shape 4.
/// Frequent words are short; 0.5 % of the tokens are longer than 12 letters.
const LENGTHS: [(u64, [u64; 4]); 5] = [
    (1 << 9, [180, 76, 0, 0]),
    (1 << 13, [60, 158, 36, 2]),
    (1 << 21, [0, 180, 75, 1]),
    (1 << 29, [0, 0, 254, 2]),
    (1 << 37, [0, 0, 0, 250]),
];

/// The number of ranks.
pub(crate) const WORDS: u64 = 1 << 37;

/// Appends the word of a rank below [`WORDS`], in lower-case ASCII letters.
///
/// Distinct ranks give distinct words.
pub(crate) fn write_word(rank: u64, out: &mut Vec<u8>) {
    if let Some(word) = FUNCTION_WORDS.get(rank as usize) {
        out.extend_from_slice(word.as_bytes());
        return;
    }
    let number = rank - FUNCTION_WORDS.len() as u64;
    let start = out.len();
    let mut shape = shape(number);
    write_sounds(shape, number, out);
    // An invented word that equals a function word gets the next longer shape.
    while TAKEN.contains(&out[start..]) {
        out.truncate(start);
        shape += 1;
        write_sounds(shape, number, out);
    }
}

/// The shape of an invented word: pseudo-random, but a function of its number.
fn shape(number: u64) -> u32 {
    let mut chance = mix(number) % 256;
    let (_, shares) = LENGTHS
        .iter()
        .find(|(limit, _)| number < *limit)
        .unwrap_or(&LENGTHS[4]);
    for (shape, &share) in shares.iter().enumerate() {
        if chance < share {
            return shape as u32;
        }
        chance -= share;
    }
    4
}

/// Appends the groups of letters that the bits of `number` select.
fn write_sounds(shape: u32, number: u64, out: &mut Vec<u8>) {
    let mut bits = scatter(number, 13 + 8 * shape);
    let mut next = |sounds: &[&str]| {
        out.extend_from_slice(sounds[bits as usize % sounds.len()].as_bytes());
        bits /= sounds.len() as u64;
    };
    next(&ONSETS);
    for _ in 0..shape {
        next(&NUCLEI);
        next(&MIDDLES);
    }
    next(&NUCLEI);
    next(&CODAS);
}

/// A bijection on numbers of `width` bits, so that words of adjacent ranks differ strongly.
fn scatter(number: u64, width: u32) -> u64 {
    let mask = (1 << width) - 1;
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask;
    let number = number ^ (number >> (width / 2));
    let number = number.wrapping_mul(0xbf58_476d_1ce4_e5b9) & mask;
    number ^ (number >> (width / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn word(rank: u64) -> String {
        let mut bytes = Vec::new();
        write_word(rank, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn words_of_different_rank_differ() {
        let borders = [1_u64 << 21, 1 << 29, 1 << 36]
            .into_iter()
            .flat_map(|b| b - 20_000..b + 20_000);
        let mut seen = HashSet::new();
        for rank in (0..300_000).chain(borders) {
            assert!(seen.insert(word(rank)), "rank {rank}: {} again", word(rank));
        }
    }

    #[test]
    fn scatter_is_a_bijection() {
        let mut images: Vec<u64> = (0..1 << 13).map(|number| scatter(number, 13)).collect();
        images.sort_unstable();
        assert!(
            images
                .iter()
                .enumerate()
                .all(|(index, &image)| index as u64 == image)
        );
    }

    #[test]
    fn groups_have_only_consonants_or_only_vowels() {
        let vowels = |text: &str| text.bytes().all(|byte| b"aeiou".contains(&byte));
        let consonants = |text: &str| !text.bytes().any(|byte| b"aeiou".contains(&byte));
        assert!(NUCLEI.iter().all(|sound| vowels(sound)));
        for sounds in [ONSETS, MIDDLES, CODAS] {
            assert!(sounds.iter().all(|sound| consonants(sound)), "{sounds:?}");
            assert_eq!(HashSet::from(sounds).len(), 32);
        }
    }

    #[test]
    fn the_first_and_the_last_ranks_have_words() {
        assert_eq!(word(0), "the");
        assert!(word(WORDS - 1).len() >= 8);
    }
}
