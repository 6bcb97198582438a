//! A set of words to pass over, by their hashes.

use xxhash_rust::xxh3::xxh3_64;

use super::lists::LISTS;
use crate::text::WordHashes;
use crate::text::tokenizer::fold::push_folded;

/// Slots for each word: three of four stay empty, so that most questions end at the first.
const SLOTS_A_WORD: usize = 4;
const EMPTY: u64 = 0;

/// Words that do not count, known by the XXH3-64 of their folded bytes.
///
/// An open-addressed table with linear probing: hashes are uniform, so their low bits are the
/// place. The built-in words fill 64 KB.
#[derive(Clone, Debug)]
pub struct StopWords {
    /// A power of two; a hash of [`EMPTY`] is kept apart.
    slots: Vec<u64>,
    has_empty: bool,
    len: usize,
}

impl StopWords {
    /// No words.
    pub fn none() -> StopWords {
        StopWords::from_hashes(Vec::new())
    }

    /// The function words of English, German, French, Spanish, Italian, Portuguese, Dutch, Russian
    /// and Chinese, about 1500.
    ///
    /// They stand as the tokenizer `auto` cuts them: `don't` is `don` and `t`.
    pub fn builtin() -> StopWords {
        let words = LISTS
            .iter()
            .flat_map(|(_, words)| words.split_ascii_whitespace());
        StopWords::from_hashes(words.map(|word| xxh3_64(word.as_bytes())).collect())
    }

    /// The words of a list: tokens between ASCII white space, folded character by character.
    ///
    /// A UTF-8 byte-order mark at the start is skipped; bytes that are no UTF-8 stay as they are.
    /// O(length) time and memory.
    pub fn from_bytes(list: &[u8]) -> StopWords {
        let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
        let tokens = list.split(|byte| byte.is_ascii_whitespace() || *byte == b'\x0b');
        let mut folded = Vec::new();
        let hash = |token: &[u8]| {
            folded.clear();
            for chunk in token.utf8_chunks() {
                let characters = chunk.valid().chars();
                characters.for_each(|character| push_folded(character, &mut folded));
                folded.extend_from_slice(chunk.invalid());
            }
            xxh3_64(&folded)
        };
        let tokens = tokens.filter(|token| !token.is_empty());
        StopWords::from_hashes(tokens.map(hash).collect())
    }

    fn from_hashes(mut hashes: Vec<u64>) -> StopWords {
        hashes.sort_unstable();
        hashes.dedup();
        let mut words = StopWords {
            slots: vec![EMPTY; (SLOTS_A_WORD * hashes.len()).next_power_of_two()],
            has_empty: hashes.first() == Some(&EMPTY),
            len: hashes.len(),
        };
        for &hash in hashes.iter().filter(|&&hash| hash != EMPTY) {
            let place = words.place(hash);
            words.slots[place] = hash;
        }
        words
    }

    /// Where `hash` is, or else the empty slot where it would be.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place] != hash && self.slots[place] != EMPTY {
            place = (place + 1) & mask;
        }
        place
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The hashes, in no particular order.
    pub fn hashes(&self) -> impl Iterator<Item = u64> + '_ {
        let slots = self.slots.iter().copied().filter(|&hash| hash != EMPTY);
        slots.chain(self.has_empty.then_some(EMPTY))
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a word with this hash is among them.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        if hash == EMPTY {
            return self.has_empty;
        }
        self.slots[self.place(hash)] == hash
    }

    /// Takes these words out of a document; the order of the others stays.
    pub fn remove_from(&self, words: &mut WordHashes) {
        if self.is_empty() {
            return;
        }
        let wide = !words.long.is_empty();
        let mut kept = 0;
        for place in 0..words.short.len() {
            let hash = words.short[place];
            // Written in any case: whether a word is kept is hard to predict.
            words.short[kept] = hash;
            if wide {
                words.long[kept] = words.long[place];
            }
            kept += usize::from(!self.contains(hash));
        }
        words.short.truncate(kept);
        words.long.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use crate::text::{Choice, Tokenizer};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn membership_is_the_definition(
            hashes in prop::collection::vec(prop_oneof![0..60u64, any::<u64>()], 0..80),
            asked in prop::collection::vec(0..70u64, 0..80),
        ) {
            let set: BTreeSet<u64> = hashes.iter().copied().collect();
            let words = StopWords::from_hashes(hashes.clone());
            prop_assert_eq!(words.len(), set.len());
            for hash in hashes.iter().chain(&asked) {
                prop_assert_eq!(words.contains(*hash), set.contains(hash));
            }
            let both: Vec<u64> = hashes.iter().chain(&asked).copied().collect();
            let long: Vec<u128> = both.iter().map(|&hash| u128::from(hash) << 64 | 1).collect();
            for long in [vec![], long] {
                let mut document = WordHashes { short: both.clone(), long: long.clone() };
                words.remove_from(&mut document);
                let short: Vec<u64> = both.iter().copied().filter(|hash| !set.contains(hash)).collect();
                prop_assert_eq!(&document.short, &short);
                let long = long.into_iter().filter(|hash| !set.contains(&((hash >> 64) as u64)));
                prop_assert_eq!(document.long, long.collect::<Vec<u128>>());
            }
        }
    }

    fn hash(word: &str) -> u64 {
        xxh3_64(word.as_bytes())
    }

    #[test]
    fn built_in_words_are_words() {
        let builtin = StopWords::builtin();
        for word in [
            "the",
            "und",
            "où",
            "según",
            "perché",
            "não",
            "het",
            "который",
            "的",
        ] {
            assert!(builtin.contains(hash(word)), "{word}");
        }
        for word in ["house", "Haus", "The", "", "中国"] {
            assert!(!builtin.contains(hash(word)), "{word}");
        }
        // What the tokenizer never makes could never be found. Chinese words come from a
        // dictionary that is not always there.
        for (language, list) in LISTS.iter().filter(|(language, _)| *language != "zh") {
            let words: Vec<&str> = list.split_ascii_whitespace().collect();
            let mut found = Vec::new();
            let mut tokenizer = Tokenizer::new(Choice::Auto, Level::Scalar);
            let visit = &mut |word: &[u8]| found.push(String::from_utf8(word.to_vec()).unwrap());
            tokenizer.for_each_word(list.as_bytes(), visit);
            assert_eq!(found, words, "{language}");
            assert!(
                (30..=300).contains(&words.len()),
                "{language}: {}",
                words.len()
            );
        }
    }

    #[test]
    fn lists_are_folded() {
        let words = StopWords::from_bytes("\u{feff}The\r\nÜBER\x0bdon't  Ж".as_bytes());
        assert_eq!(words.len(), 4);
        for word in ["the", "über", "don't", "ж"] {
            assert!(words.contains(hash(word)), "{word}");
        }
        assert!(StopWords::from_bytes(b"x\xffY").contains(xxh3_64(b"x\xffy")));
        assert!(StopWords::from_bytes(b" \r\n").is_empty());
        assert!(!StopWords::none().contains(0));
    }
}
