//! Words and sentences of a text, as byte ranges.

use std::ops::Range;

/// Characters that are words by themselves, in scripts without spaces between words: kana, Han, and
/// their extensions.
const SINGLE: [(u32, u32); 6] = [
    (0x3005, 0x3007),
    (0x3041, 0x30ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xf900, 0xfaff),
    (0x20000, 0x323af),
];

/// Whether a character is a word by itself.
pub(super) fn is_single(character: char) -> bool {
    let code = u32::from(character);
    SINGLE.iter().any(|&(from, to)| (from..=to).contains(&code))
}

/// The words, in order: runs of letters and digits, and single characters.
pub(super) fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut can_grow = false;
    each_character(text, |at, character| {
        let end = at + character.len_utf8();
        if is_single(character) {
            words.push(at..end);
            can_grow = false;
        } else if !character.is_alphanumeric() {
            can_grow = false;
        } else {
            match words.last_mut() {
                Some(word) if can_grow && word.end == at => word.end = end,
                _ => words.push(at..end),
            }
            can_grow = true;
        }
    });
    words
}

/// The characters other than white space, in order.
pub(super) fn characters(text: &[u8]) -> Vec<Range<usize>> {
    let mut characters = Vec::new();
    each_character(text, |at, character| {
        if !character.is_whitespace() {
            characters.push(at..at + character.len_utf8());
        }
    });
    characters
}

/// The sentences that contain words, in order, without surrounding white space.
///
/// A sentence ends at the end of a line, after `.`, `!` or `?` before white space, and after their
/// fullwidth forms.
pub(super) fn sentences(text: &[u8]) -> Vec<Range<usize>> {
    let mut ends = Vec::new();
    let mut after_stop = false;
    each_character(text, |at, character| {
        if character == '\n' || after_stop && character.is_whitespace() {
            ends.push(at);
        }
        after_stop = matches!(character, '.' | '!' | '?');
        if matches!(character, '。' | '！' | '？') {
            ends.push(at + character.len_utf8());
        }
    });
    ends.push(text.len());
    let mut start = 0;
    let mut sentences = Vec::new();
    for end in ends {
        let sentence = &text[start..end];
        let trimmed = sentence.trim_ascii_start();
        let from = end - trimmed.len();
        let span = from..from + trimmed.trim_ascii_end().len();
        if !words(&text[span.clone()]).is_empty() {
            sentences.push(span);
        }
        start = end;
    }
    sentences
}

/// Visits the characters of the valid UTF-8 parts, with their byte offsets.
fn each_character(text: &[u8], mut visit: impl FnMut(usize, char)) {
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        for (at, character) in chunk.valid().char_indices() {
            visit(start + at, character);
        }
        start += chunk.valid().len() + chunk.invalid().len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, spans: Vec<Range<usize>>) -> Vec<&str> {
        spans.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn words_are_runs_and_single_characters() {
        let text = "It's 3 o'clock, 你好ABC中é!";
        let expected = ["It", "s", "3", "o", "clock", "你", "好", "ABC", "中", "é"];
        assert_eq!(cut(text, words(text.as_bytes())), expected);
        let broken = b"a\xffb\xe4\xbd";
        assert_eq!(words(broken), [0..1, 2..3]);
    }

    #[test]
    fn sentences_end_at_punctuation_and_line_ends() {
        let text = "A b. C 3.5 d!\nHeadline \n\n - \n你好。吃了吗？ Last";
        let expected = ["A b.", "C 3.5 d!", "Headline", "你好。", "吃了吗？", "Last"];
        assert_eq!(cut(text, sentences(text.as_bytes())), expected);
        assert!(sentences(b"").is_empty());
    }
}
