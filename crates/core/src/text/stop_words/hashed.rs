//! Sets of stop words, by their hashes.

use xxhash_rust::xxh3::xxh3_64;

use super::lists::LISTS;
use crate::text::WordSet;
use crate::text::fold;

/// The function words of English, German, French, Spanish, Italian, Portuguese, Dutch, Russian
/// and Chinese, about 1300 different ones, as the XXH3-64 hashes of their bytes.
///
/// They are split like the tokenizer `auto` splits them: `don't` is `don` and `t`.
pub fn builtin_stop_words() -> WordSet {
    let words = LISTS
        .iter()
        .flat_map(|(_, words)| words.split_ascii_whitespace());
    WordSet::new(words.map(|word| xxh3_64(word.as_bytes())))
}

/// The words of a list: tokens between ASCII white space, folded as words are, as the
/// XXH3-64 hashes of their bytes.
///
/// A UTF-8 byte-order mark at the start is skipped; invalid UTF-8 is not folded. O(length) memory,
/// and the time to sort the hashes.
pub fn listed_stop_words(list: &[u8]) -> WordSet {
    let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
    let tokens = list.split(|byte| byte.is_ascii_whitespace() || *byte == b'\x0b');
    let mut folded = Vec::new();
    let hash = |token: &[u8]| {
        folded.clear();
        for chunk in token.utf8_chunks() {
            folded.extend_from_slice(fold(chunk.valid()).as_bytes());
            folded.extend_from_slice(chunk.invalid());
        }
        xxh3_64(&folded)
    };
    let tokens = tokens.filter(|token| !token.is_empty());
    WordSet::new(tokens.map(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use crate::text::{Choice, Tokenizer};

    fn hash(word: &str) -> u64 {
        xxh3_64(word.as_bytes())
    }

    #[test]
    fn built_in_words_are_words() {
        let builtin = builtin_stop_words();
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
        // A stop word that the tokenizer never produces could never match.
        for (language, list) in LISTS {
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
        let words = listed_stop_words("\u{feff}The\r\nÜBER\x0bdon't  Ж".as_bytes());
        assert_eq!(words.len(), 4);
        for word in ["the", "über", "don't", "ж"] {
            assert!(words.contains(hash(word)), "{word}");
        }
        assert!(listed_stop_words(b"x\xffY").contains(xxh3_64(b"x\xffy")));
        assert!(listed_stop_words(b" \r\n").is_empty());
    }
}
