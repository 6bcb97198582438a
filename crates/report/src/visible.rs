//! Sanitisation of untrusted text for terminals.

use std::borrow::Cow;

/// Replaces control characters, invisible characters and direction marks by their code, such as
/// `U+202E`; tabs and line ends by spaces.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    let acts = |character: char| character.is_control() || is_invisible(character);
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => shown.push(' '),
            _ if acts(character) => shown += &format!("U+{:04X}", u32::from(character)),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character is a direction mark, joiner, tag, separator or other invisible format
/// character. Source: general categories Cf (without visible signs), Zl and Zp of Unicode.
fn is_invisible(character: char) -> bool {
    matches!(
        u32::from(character),
        0x00ad | 0x061c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff
            | 0xfff9..=0xfffb | 0xe0000..=0xe007f
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_named() {
        assert_eq!(
            visible("a\u{202e}b\u{1b}[1m\0\u{feff}\t\n"),
            "aU+202EbU+001B[1mU+0000U+FEFF  "
        );
        assert!(matches!(visible("é 漢 🐈"), Cow::Borrowed(_)));
    }
}
