//! Escaping of untrusted text for HTML.

use std::borrow::Cow;

use crate::visible::visible;

/// Escapes text for an element or a quoted attribute: no markup and no control characters remain.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    let special = |byte: u8| matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'');
    if !text.bytes().any(special) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            _ => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// Like [`escape`] for bytes that may be invalid UTF-8.
pub(crate) fn escape_bytes(bytes: &[u8]) -> String {
    escape(&String::from_utf8_lossy(bytes)).into_owned()
}

/// A word with a capital letter.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_is_markup() {
        assert_eq!(
            escape("<script>alert('x')</script> & \"\u{202e}\0"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;U+202EU+0000"
        );
        assert_eq!(escape_bytes(b"\xff<"), "\u{fffd}&lt;");
    }
}
