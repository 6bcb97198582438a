//! Removal of ranges from a text.

use std::ops::Range;

/// The text without `ranges`, which are ascending and do not overlap.
///
/// The spaces and tabs after a removed range go, too. If nothing remains of its lines, so does the
/// line break; with `blank_lines`, also the blank lines after it.
///
/// O(length) time. If the borders of ranges are those of characters, none is cut.
pub fn cut(text: &[u8], ranges: &[Range<usize>], blank_lines: bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        let start = range.start.clamp(from, text.len());
        kept.extend_from_slice(&text[from..start]);
        let end = range.end.clamp(start, text.len());
        let begins_line = kept.last().is_none_or(|&byte| byte == b'\n');
        from = end + spaces(&text[end..]);
        if begins_line && let Some(length) = line_break(&text[from..]) {
            from += length;
            while blank_lines && let Some(length) = blank_line(&text[from..]) {
                from += length;
            }
        }
    }
    kept.extend_from_slice(&text[from..]);
    kept
}

/// The text with all characters of `ranges`, which are ascending, replaced by a blank of as many
/// bytes: a space, U+00A0, U+3000 or U+E0020. Line breaks stay, and so do bytes that are not UTF-8.
///
/// The result has the length of the text in bytes and in characters.
pub fn mask(text: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut masked = Vec::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        let start = range.start.clamp(from, text.len());
        let end = range.end.clamp(start, text.len());
        masked.extend_from_slice(&text[from..start]);
        for part in text[start..end].utf8_chunks() {
            for character in part.valid().chars() {
                let blank = match (character, character.len_utf8()) {
                    ('\n' | '\r', _) => character,
                    (_, 1) => ' ',
                    (_, 2) => '\u{a0}',
                    (_, 3) => '\u{3000}',
                    (_, _) => '\u{e0020}',
                };
                masked.extend_from_slice(blank.encode_utf8(&mut [0; 4]).as_bytes());
            }
            masked.extend_from_slice(part.invalid());
        }
        from = end;
    }
    masked.extend_from_slice(&text[from..]);
    masked
}

/// The number of spaces and tabs that the text begins with.
fn spaces(text: &[u8]) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    text.iter()
        .position(|byte| !is_space(byte))
        .unwrap_or(text.len())
}

/// The length of the line break that the text begins with.
fn line_break(text: &[u8]) -> Option<usize> {
    match text {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// The length of the blank line that the text begins with, with its line break.
fn blank_line(text: &[u8]) -> Option<usize> {
    let blanks = spaces(text);
    Some(blanks + line_break(&text[blanks..])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_go_with_their_breaks() {
        for (text, ranges, blank_lines, expected) in [
            ("a\nb\nc", &[(2, 3)][..], false, "a\nc"),
            ("a\r\nb\r\nc", &[(0, 1), (3, 4)], false, "c"),
            ("a\nb", &[(2, 3)], false, "a\n"),
            ("a\n\nb\n\nc", &[(0, 1)], true, "b\n\nc"),
            ("a\n\nb\n\nc", &[(3, 4)], true, "a\n\nc"),
            ("A. B. C.", &[(3, 5)], false, "A. C."),
            ("A. B.\nC.", &[(3, 5)], false, "A. \nC."),
            ("A", &[(0, 1)], false, ""),
            ("", &[], false, ""),
        ] {
            let ranges: Vec<_> = ranges.iter().map(|&(start, end)| start..end).collect();
            let kept = cut(text.as_bytes(), &ranges, blank_lines);
            assert_eq!(String::from_utf8(kept).unwrap(), expected, "{text:?}");
        }
    }

    /// Promise (Repeated units): Written texts are those of the reported …
    #[test]
    fn masked_characters_keep_their_lengths() {
        let text = "aé中😀\r\nb";
        let all = 0..text.len();
        let masked = String::from_utf8(mask(text.as_bytes(), &[all])).unwrap();
        assert_eq!(masked, " \u{a0}\u{3000}\u{e0020}\r\n ");
    }

    proptest! {
        /// Promise (Repeated units): Written texts are those of the reported …
        #[test]
        fn other_bytes_stay(
            text in prop::collection::vec(any::<u8>(), 0..40), borders in prop::collection::vec(0..44usize, 4),
        ) {
            let mut borders = borders;
            borders.sort_unstable();
            let ranges = [borders[0]..borders[1], borders[2]..borders[3]];
            let masked = mask(&text, &ranges);
            prop_assert_eq!(masked.len(), text.len());
            for (place, (old, new)) in text.iter().zip(&masked).enumerate() {
                prop_assert!(old == new || ranges.iter().any(|range| range.contains(&place)));
            }
            let kept = cut(&text, &ranges, true);
            let removed: usize = ranges.iter().map(|range| range.end.min(text.len()).saturating_sub(range.start)).sum();
            prop_assert!(kept.len() + removed <= text.len());
        }
    }
}
