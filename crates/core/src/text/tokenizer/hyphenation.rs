//! Words that a hyphen at the end of a line divides.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::characters::FOLDED;
use super::script::Role;

/// The length of the hyphen at the start of `text` with the line break and the indentation behind
/// it, if a letter follows and one is before: `before` ends with it and its marks. `None` otherwise.
#[inline]
pub(in crate::text) fn hyphenation(before: &str, text: &str) -> Option<usize> {
    let behind = text.strip_prefix(['-', '\u{2010}', '\u{ad}'])?;
    let behind = behind.strip_prefix('\r').unwrap_or(behind);
    let behind = behind.strip_prefix('\n')?.trim_start_matches([' ', '\t']);
    let is_letter = |c: &char| {
        FOLDED.of(*c).role == Role::Letter && c.is_alphabetic() && !is_combining_mark(*c)
    };
    behind.chars().next().filter(is_letter)?;
    let is_mark = |c: &char| FOLDED.of(*c).is_mark();
    let base = before.chars().rev().find(|c| !is_mark(c));
    base.filter(is_letter).map(|_| text.len() - behind.len())
}

/// The ranges of `text` that may be words with hyphens at line ends, ascending and disjoint: runs of
/// the bytes that `is_word` accepts, joined where a hyphen and a line break are between them. All
/// words that [`hyphenation`] joins are within them; bytes from 0x80 on are word bytes.
pub(super) fn hyphenated<'t>(
    text: &'t [u8],
    is_word: impl Fn(u8) -> bool + 't,
) -> impl Iterator<Item = Range<usize>> + 't {
    let mut done = 0;
    std::iter::from_fn(move || {
        let mut from = done;
        loop {
            let mut hyphen = next_break(text, from)?;
            from = hyphen + 1;
            // The bytes of a hyphen that is not ASCII are word bytes, too.
            let word = text[done..hyphen].iter().rev();
            let start = hyphen - word.take_while(|byte| is_word(**byte)).count();
            let is_in_word = start < hyphen;
            let mut joined = None;
            while let Some(next) = is_in_word
                .then(|| next_word(text, hyphen, &is_word))
                .flatten()
            {
                joined = Some(next.end);
                let behind = [next.end - 1, next.end];
                match behind.into_iter().find(|place| is_break(text, *place)) {
                    Some(again) => hyphen = again,
                    None => break,
                }
            }
            if let Some(end) = joined {
                done = end;
                return Some(start..end);
            }
        }
    })
}

/// The word on the line after the hyphen whose last byte is at `hyphen`, if there is one.
fn next_word(text: &[u8], hyphen: usize, is_word: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let behind = &text[hyphen + 1..];
    let behind = behind.strip_prefix(b"\r").unwrap_or(behind);
    let behind = behind.strip_prefix(b"\n")?;
    let indentation = behind
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    let word = &behind[indentation.count()..];
    let start = text.len() - word.len();
    let bytes = word.iter().take_while(|byte| is_word(**byte)).count();
    (bytes > 0).then_some(start..start + bytes)
}

/// Whether the last byte of a hyphen, or of a character that ends with the same byte, is at a place,
/// and a line break behind it.
fn is_break(text: &[u8], place: usize) -> bool {
    let is_hyphen = matches!(text.get(place), Some(b'-' | 0x90 | 0xad));
    is_hyphen && matches!(&text[place + 1..], [b'\n', ..] | [b'\r', b'\n', ..])
}

/// Whether a hyphen and a line break may be in `text`; it may be within a word.
pub(in crate::text) fn has_hyphen_break(text: &[u8]) -> bool {
    next_break(text, 0).is_some()
}

/// The first place from `from` on where [`is_break`] holds.
fn next_break(text: &[u8], from: usize) -> Option<usize> {
    let mut line_ends = memchr::memchr_iter(b'\n', &text[from..]).map(|place| from + place);
    line_ends.find_map(|end| {
        let back = 1 + usize::from(text[..end].ends_with(b"\r"));
        let place = end.checked_sub(back).filter(|place| *place >= from)?;
        is_break(text, place).then_some(place)
    })
}
