//! Borders of ranges, moved inwards to those of characters, words, sentences or lines.

use std::ops::Range;

use super::sentences::sentences;
use crate::text::tokenizer::joins;

/// To which borders a range shrinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snap {
    /// Borders of characters.
    None,
    /// Borders of words: no border is between two letters or digits, except in scripts without
    /// spaces between words, and none is before a combining mark.
    #[default]
    Word,
    /// Borders of sentences, with the white space between them.
    Sentence,
    /// Borders of lines, with their line breaks.
    Line,
}

impl Snap {
    /// All kinds, in the order of messages.
    pub const ALL: [Snap; 4] = [Snap::Word, Snap::Sentence, Snap::Line, Snap::None];

    /// The name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Snap::None => "none",
            Snap::Word => "word",
            Snap::Sentence => "sentence",
            Snap::Line => "line",
        }
    }

    /// Shrinks each of `ranges`, which are ascending and do not overlap; those of which nothing
    /// remains become empty.
    ///
    /// O(length of the text) time.
    pub fn shrink(self, text: &[u8], ranges: &mut [Range<usize>]) {
        match self {
            Snap::None => shrink_each(text, ranges, is_character_border),
            Snap::Word => shrink_each(text, ranges, is_word_border),
            Snap::Sentence => shrink_to(sentences(text), ranges),
            Snap::Line => shrink_to(lines(text), ranges),
        }
    }
}

/// Moves both borders of each range inwards, to the next places that are borders.
fn shrink_each(text: &[u8], ranges: &mut [Range<usize>], is_border: fn(&[u8], usize) -> bool) {
    for range in ranges {
        let end = range.end.min(text.len());
        let start = (range.start..end).find(|place| is_border(text, *place));
        let start = start.unwrap_or(end);
        let last = (start..=end).rev().find(|place| is_border(text, *place));
        *range = start..last.unwrap_or(start);
    }
}

/// Shrinks each range to the first and the last of some ascending parts that it contains.
fn shrink_to(parts: impl Iterator<Item = Range<usize>>, ranges: &mut [Range<usize>]) {
    let mut parts = parts.peekable();
    for range in ranges {
        while parts.next_if(|part| part.start < range.start).is_some() {}
        let mut inside: Option<Range<usize>> = None;
        while let Some(part) = parts.next_if(|part| part.end <= range.end) {
            let start = inside.map_or(part.start, |inside| inside.start);
            inside = Some(start..part.end);
        }
        *range = inside.unwrap_or(range.start..range.start);
    }
}

/// The lines with their breaks.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |place| place + 1);
        from += length;
        Some(from - length..from)
    })
}

/// The range without parts of characters at its ends, in at most six steps; a range without a whole
/// character stays as it is.
pub fn whole_characters(text: &[u8], range: Range<usize>) -> Range<usize> {
    let is_border = |place: &usize| is_character_border(text, *place);
    let start = range.clone().find(is_border).unwrap_or(range.end);
    let end = (start..=range.end).rev().find(is_border).unwrap_or(start);
    match start < end {
        true => start..end,
        false => range,
    }
}

/// Whether a place is between two characters, or beside bytes that are none.
fn is_character_border(text: &[u8], place: usize) -> bool {
    let is_continued = |byte: &u8| byte & 0xc0 == 0x80;
    if !text.get(place).is_some_and(is_continued) {
        return true;
    }
    // Within a character, unless the bytes before are none.
    let first = (1..4).find(|back| {
        let before = place.checked_sub(*back).and_then(|place| text.get(place));
        before.is_some_and(|byte| !is_continued(byte))
    });
    let Some(start) = first.and_then(|back| place.checked_sub(back)) else {
        return true;
    };
    character(&text[start..]).is_none_or(|character| start + character.len_utf8() <= place)
}

/// The character that some bytes begin with.
fn character(bytes: &[u8]) -> Option<char> {
    let most = &bytes[..bytes.len().min(4)];
    most.utf8_chunks().next()?.valid().chars().next()
}

/// Whether a place is not within a word.
fn is_word_border(text: &[u8], place: usize) -> bool {
    if !is_character_border(text, place) {
        return false;
    }
    let Some(next) = text.get(place..).and_then(character) else {
        return true;
    };
    let Some(before) = (1..=4).find_map(|back| {
        let start = place.checked_sub(back)?;
        character(&text[start..]).filter(|character| character.len_utf8() == back)
    }) else {
        return true;
    };
    !joins(before, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shrunk(snap: Snap, text: &str, range: Range<usize>) -> &str {
        let mut ranges = [range];
        snap.shrink(text.as_bytes(), &mut ranges);
        &text[ranges[0].clone()]
    }

    /// Promise (Repeated stretches of text): No cut goes through a character, nor, unless …
    #[test]
    fn ranges_shrink_to_whole_parts() {
        for (snap, text, range, expected) in [
            (Snap::Word, "one two three", 1..9, " two "),
            (Snap::Word, "one two three", 0..7, "one two"),
            (Snap::Word, "e\u{301}e\u{301} x", 1..7, " "),
            (Snap::Word, "中国人", 2..9, "国人"),
            (Snap::Word, "a中b", 0..4, "a中"),
            (Snap::Word, "onetwo", 1..5, ""),
            (Snap::None, "onetwo", 1..5, "netw"),
            (Snap::None, "é中", 1..4, ""),
            (Snap::None, "é中", 1..5, "中"),
            (Snap::None, "é中a", 1..6, "中a"),
            (Snap::Sentence, "A b. C d. E f.", 1..14, "C d. E f."),
            (Snap::Sentence, "A b. C d. E f.", 0..13, "A b. C d."),
            (Snap::Line, "a\nb\nc", 1..5, "b\nc"),
            (Snap::Line, "a\nb\nc", 0..3, "a\n"),
            (Snap::Line, "abc", 1..3, ""),
        ] {
            assert_eq!(
                shrunk(snap, text, range.clone()),
                expected,
                "{text:?} {range:?}"
            );
        }
    }

    proptest! {
        /// Promise (Repeated stretches of text): No cut goes through a character, nor, unless asked
        /// for, through a word, a sentence or a line
        #[test]
        fn nothing_is_cut_through(
            text in "([ab1é中ไ]|\u{301}| |\n|\\.){0,30}", borders in prop::collection::vec(0..60usize, 4),
        ) {
            let mut borders = borders;
            borders.sort_unstable();
            for snap in Snap::ALL {
                let old = [borders[0]..borders[1], borders[2]..borders[3]];
                let mut ranges = old.clone();
                snap.shrink(text.as_bytes(), &mut ranges);
                for (range, old) in ranges.iter().zip(&old) {
                    prop_assert!(range.start <= range.end);
                    if range.is_empty() {
                        continue;
                    }
                    prop_assert!(range.start >= old.start && range.end <= old.end);
                    for border in [range.start, range.end] {
                        prop_assert!(text.is_char_boundary(border));
                        let sides = (text[..border].chars().next_back(), text[border..].chars().next());
                        if let (Snap::Word, (Some(before), Some(next))) = (snap, sides) {
                            prop_assert!(!joins(before, next));
                        }
                    }
                }
            }
        }

        #[test]
        fn any_bytes_can_be_shrunk(
            text in prop::collection::vec(any::<u8>(), 0..40), borders in prop::collection::vec(0..44usize, 2),
        ) {
            let range = borders[0].min(borders[1])..borders[0].max(borders[1]);
            for snap in Snap::ALL {
                let mut ranges = std::slice::from_ref(&range).to_vec();
                snap.shrink(&text, &mut ranges);
                prop_assert!(ranges[0].start <= ranges[0].end);
                prop_assert!(ranges[0].is_empty() || ranges[0].end <= text.len());
            }
        }
    }
}
