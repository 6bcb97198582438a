//! Stop words: words that are ignored.

mod hashed;
mod lists;

pub use hashed::{builtin_stop_words, listed_stop_words};

/// The stop words of a list: tokens between ASCII white space, unchanged.
///
/// A token that is not a single run of letters, such as `don't`, is included although it never
/// equals a word. A UTF-8 byte-order mark at the start is skipped.
pub fn stop_words(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
    let tokens = list.split(|byte| byte.is_ascii_whitespace() || *byte == b'\x0b');
    tokens.filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_between_white_space() {
        let found = stop_words(b"\xef\xbb\xbfThe\r\nof\tAND  don't\nlast");
        let expected = ["The", "of", "AND", "don't", "last"].map(str::as_bytes);
        assert!(found.eq(expected));
        assert_eq!(stop_words(b" \r\n").count(), 0);
    }
}
