//! The words that do not count.

mod hashed;
mod lists;

use ahash::AHashSet;

pub use hashed::{builtin_stop_words, listed_stop_words};

/// The stop words of a list: tokens between ASCII white space, folded to lower case.
///
/// A token that is no single run of letters (such as `don't`) can never equal a word; it is kept
/// as it stands and does no harm. A UTF-8 byte-order mark at the start is skipped.
pub fn stop_words(list: &[u8]) -> AHashSet<Vec<u8>> {
    let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
    let tokens = list.split(|byte| byte.is_ascii_whitespace() || *byte == b'\x0b');
    tokens
        .filter(|token| !token.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_between_white_space() {
        let found = stop_words(b"\xef\xbb\xbfThe\r\nof\tAND  don't\nlast");
        let expected = ["the", "of", "and", "don't", "last"].map(|word| word.as_bytes().to_vec());
        assert_eq!(found, expected.into_iter().collect());
        assert!(stop_words(b" \r\n").is_empty());
    }
}
