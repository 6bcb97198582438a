//! Sentences: where they end, by punctuation and line breaks alone.

use std::ops::Range;

/// The ranges of the sentences of a text, in order, without white space at their ends.
///
/// A line break ends a sentence. So does a run of `.`, `!`, `?` and `…`, with the closing quotes and
/// brackets after it, before white space or the end of the text. After `。`, `！` and `？`, no white
/// space is needed. Abbreviations are not known, so each of their full stops ends a sentence if white
/// space follows. A sentence found alone is one sentence again.
///
/// O(length) time.
pub fn sentences(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < text.len() {
            let end = end_of_sentence(text, from);
            let sentence = trimmed(text, from..end);
            from = end;
            if !sentence.is_empty() {
                return Some(sentence);
            }
        }
        None
    })
}

/// The range without ASCII white space at its ends.
pub(super) fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    let end = range.end - (part.len() - part.trim_ascii_end().len());
    start.min(end)..end
}

/// The bytes that may begin the end of a sentence.
const MAY_END: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b"\n.!?\xe2\xe3\xef";
    let mut place = 0;
    while place < ends.len() {
        table[ends[place] as usize] = true;
        place += 1;
    }
    table
};

/// The end of the sentence that begins at `from`.
fn end_of_sentence(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let Some(skipped) = rest.iter().position(|&byte| MAY_END[usize::from(byte)]) else {
            return text.len();
        };
        at += skipped;
        if text[at] == b'\n' {
            return at + 1;
        }
        let (mut length, mut is_wide) = (0, false);
        while let Some((more, wide)) = terminator(&text[at + length..]) {
            length += more;
            is_wide |= wide;
        }
        if length == 0 {
            at += 1;
            continue;
        }
        while let Some(more) = closer(&text[at + length..]) {
            length += more;
        }
        at += length;
        if is_wide || text.get(at).is_none_or(u8::is_ascii_whitespace) {
            return at;
        }
    }
}

/// The length of the terminator that the text begins with, and whether it needs no white space.
fn terminator(text: &[u8]) -> Option<(usize, bool)> {
    match text {
        [b'.' | b'!' | b'?', ..] => Some((1, false)),
        // … U+2026
        [0xe2, 0x80, 0xa6, ..] => Some((3, false)),
        // 。 U+3002, ！ U+FF01, ？ U+FF1F
        [0xe3, 0x80, 0x82, ..] | [0xef, 0xbc, 0x81 | 0x9f, ..] => Some((3, true)),
        _ => None,
    }
}

/// The length of the closing quote or bracket that the text begins with.
fn closer(text: &[u8]) -> Option<usize> {
    match text {
        [b'"' | b'\'' | b')' | b']', ..] => Some(1),
        // » U+00BB
        [0xc2, 0xbb, ..] => Some(2),
        // ’ U+2019, ” U+201D
        [0xe2, 0x80, 0x99 | 0x9d, ..] => Some(3),
        // 」 U+300D, 』 U+300F, ） U+FF09
        [0xe3, 0x80, 0x8d | 0x8f, ..] | [0xef, 0xbc, 0x89, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text.as_bytes())
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn sentences_end_at_punctuation_and_line_breaks() {
        for (text, expected) in [
            ("One. Two!  Three?", vec!["One.", "Two!", "Three?"]),
            (
                "A title\r\n\r\nIt is 3.5 m.",
                vec!["A title", "It is 3.5 m."],
            ),
            (
                "He said: \"No.\" Then… he left",
                vec!["He said: \"No.\"", "Then…", "he left"],
            ),
            ("你好。真的吗？」是。", vec!["你好。", "真的吗？」", "是。"]),
            ("e.g. this", vec!["e.g.", "this"]),
            ("?!... a", vec!["?!...", "a"]),
            (" \n\t\n", vec![]),
            ("", vec![]),
            ("no end", vec!["no end"]),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    proptest! {
        /// Promise (Repeated units): Units, sentences and normal forms follow …
        #[test]
        fn any_run_of_sentences_alone_has_the_same_sentences(
            text in "[aB.!?…。！」\")’\u{301} \n\r\t\0]{0,24}", skip in 0..4usize, take in 1..4usize,
        ) {
            let all = split(&text);
            let ranges: Vec<_> = sentences(text.as_bytes()).collect();
            let run = ranges.iter().skip(skip).take(take);
            let run: Vec<_> = run.cloned().collect();
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                let alone = split(&text[first.start..last.end]);
                prop_assert_eq!(&alone[..], &all[skip..skip + run.len()]);
            }
        }

        #[test]
        fn any_bytes_are_split_without_losing_any(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut end = 0;
            for range in sentences(&text) {
                prop_assert!(text[end..range.start].iter().all(u8::is_ascii_whitespace));
                prop_assert!(!range.is_empty());
                end = range.end;
            }
            prop_assert!(text[end..].iter().all(u8::is_ascii_whitespace));
        }
    }
}
