//! Normal forms of units: which differences between two units do not count.

use std::fmt;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_128;

use crate::text::tokenizer::{self, has_hyphen_break, hyphenation, is_single};
use crate::{Error, ErrorKind, Result};

/// The number of last bytes in which a character is looked for before marks.
const TAIL_BYTES: usize = 24;

/// Which differences between two units do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Normal {
    /// The form of characters and words, besides case, as words are
    /// [folded](crate::text::fold): composed or not, compatibility forms, what Unicode ignores,
    /// apostrophes; and, with `spaces`, hyphens at line ends within words and white space between
    /// characters that are words.
    pub form: bool,
    /// Upper and lower case: each character becomes its lower case.
    pub case: bool,
    /// Digits: each of 0 to 9 becomes 0.
    pub digits: bool,
    /// White space: it is removed at both ends, and each other run of it becomes one space.
    pub spaces: bool,
}

impl Default for Normal {
    fn default() -> Normal {
        Normal {
            form: true,
            spaces: true,
            ..Normal::NONE
        }
    }
}

impl Normal {
    /// Every difference of bytes counts.
    pub const NONE: Normal = Normal {
        form: false,
        case: false,
        digits: false,
        spaces: false,
    };

    /// Reads `none`, or a list of `form`, `case`, `digits` and `spaces` with commas between them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<Normal> {
        let mut normal = Normal::NONE;
        if text == "none" {
            return Ok(normal);
        }
        for name in text.split(',') {
            let part = match name {
                "form" => &mut normal.form,
                "case" => &mut normal.case,
                "digits" => &mut normal.digits,
                "spaces" => &mut normal.spaces,
                _ => {
                    let message = format!(
                        "normal form {text:?}: expected none, or some of form, case, digits and \
                         spaces, separated by commas"
                    );
                    return Err(Error::new(ErrorKind::Parameter, message));
                }
            };
            *part = true;
        }
        Ok(normal)
    }
}

/// In the format of [`Normal::parse`].
impl fmt::Display for Normal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.form, "form"),
            (self.case, "case"),
            (self.digits, "digits"),
            (self.spaces, "spaces"),
        ];
        let names: Vec<&str> = parts
            .iter()
            .filter_map(|(is_set, name)| is_set.then_some(*name))
            .collect();
        match names.is_empty() {
            true => out.write_str("none"),
            false => out.write_str(&names.join(",")),
        }
    }
}

/// Makes normal forms; its buffer grows to the size of the longest one that is not the unit itself.
#[derive(Clone, Debug)]
pub struct Normalizer {
    normal: Normal,
    buffer: Vec<u8>,
    /// The unit with composed characters, if it differs.
    composed: Vec<u8>,
}

impl Normalizer {
    /// A maker of this normal form.
    pub fn new(normal: Normal) -> Normalizer {
        Normalizer {
            normal,
            buffer: Vec::new(),
            composed: Vec::new(),
        }
    }

    /// xxh3-128 of the normal form. Two given units with different normal forms have the same hash
    /// with a probability of 2⁻¹²⁸.
    #[inline]
    pub fn hash(&mut self, unit: &[u8]) -> u128 {
        xxh3_128(self.normal_form(unit))
    }

    /// The normal form. Bytes that are not UTF-8 are characters of their own, which stay.
    ///
    /// O(length) time; no copy is made of ASCII that is its own normal form with `spaces` alone.
    #[inline]
    pub fn normal_form<'a>(&'a mut self, unit: &'a [u8]) -> &'a [u8] {
        let Normal {
            form,
            case,
            digits,
            spaces,
        } = self.normal;
        let unit = if spaces { unit.trim_ascii() } else { unit };
        if !(form || spaces || case || digits) {
            return unit;
        }
        let kind = Bytes::of(unit);
        let is_copied = !kind.is_ascii || (spaces && kind.has_wide_space);
        if !(is_copied || case || digits) {
            return unit;
        }
        self.buffer.clear();
        let mut composed = std::mem::take(&mut self.composed);
        let has_breaks = spaces && kind.has_wide_space && has_hyphen_break(unit);
        let is_same = !form || (kind.is_ascii || is_composed(unit)) && !has_breaks;
        if !is_same {
            compose(unit, has_breaks, &mut composed);
        }
        match is_copied {
            true if is_same => self.append_characters(unit),
            true if spaces => self.append_characters(composed.trim_ascii()),
            true => self.append_characters(&composed),
            false => {
                self.buffer.extend_from_slice(unit);
                if case {
                    self.buffer.make_ascii_lowercase();
                }
            }
        }
        self.composed = composed;
        if digits {
            for byte in &mut self.buffer {
                *byte = if byte.is_ascii_digit() { b'0' } else { *byte };
            }
        }
        &self.buffer
    }

    /// Appends the characters with one space for each run of white space, and in lower case.
    fn append_characters(&mut self, unit: &[u8]) {
        let mut is_space_due = false;
        let mut rest = unit;
        while !rest.is_empty() {
            let (plain, behind) = rest.split_at(plain_length(rest));
            if !plain.is_empty() {
                self.append_due_space(&mut is_space_due, char::from(plain[0]));
                let start = self.buffer.len();
                self.buffer.extend_from_slice(plain);
                if self.normal.case {
                    self.buffer[start..].make_ascii_lowercase();
                }
            }
            // Characters and invalid parts end before the next byte of ASCII.
            let end = behind
                .iter()
                .position(|byte| byte.is_ascii() && *byte != b' ' && !is_wide(*byte));
            let (others, next) = behind.split_at(end.unwrap_or(behind.len()));
            rest = next;
            self.append_others(others, &mut is_space_due);
        }
    }

    /// Appends characters, of which most are not ASCII or are white space.
    fn append_others(&mut self, others: &[u8], is_space_due: &mut bool) {
        let Normal { case, spaces, .. } = self.normal;
        for part in others.utf8_chunks() {
            for character in part.valid().chars() {
                if spaces && character.is_whitespace() {
                    *is_space_due = !self.buffer.is_empty();
                    continue;
                }
                self.append_due_space(is_space_due, character);
                match case {
                    true => character
                        .to_lowercase()
                        .for_each(|lower| self.append(lower)),
                    false => self.append(character),
                }
            }
            if !part.invalid().is_empty() {
                self.append_due_space(is_space_due, char::REPLACEMENT_CHARACTER);
                self.buffer.extend_from_slice(part.invalid());
            }
        }
    }

    /// Appends a space before `next` if one is due, and if not both characters beside it are words.
    fn append_due_space(&mut self, is_space_due: &mut bool, next: char) {
        if std::mem::take(is_space_due) {
            let is_between = self.normal.form && is_single(next) && self.ends_with_single();
            if !is_between {
                self.buffer.push(b' ');
            }
        }
    }

    /// Whether the last character that is no mark is a word.
    fn ends_with_single(&self) -> bool {
        let tail = &self.buffer[self.buffer.len().saturating_sub(TAIL_BYTES)..];
        let last = tail.utf8_chunks().last();
        let last = last.filter(|chunk| chunk.invalid().is_empty());
        let mut characters = last
            .into_iter()
            .flat_map(|chunk| chunk.valid().chars().rev());
        characters
            .find(|c| !is_combining_mark(*c))
            .is_some_and(is_single)
    }

    fn append(&mut self, character: char) {
        let mut bytes = [0; 4];
        self.buffer
            .extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
    }
}

/// Whether the valid parts of a unit are certainly their own composed form.
fn is_composed(unit: &[u8]) -> bool {
    unit.utf8_chunks()
        .all(|chunk| tokenizer::is_composed(chunk.valid()))
}

/// Replaces `out` by the composed form of the valid parts of a unit, between its invalid bytes;
/// without hyphens at line ends within words, if there may be some.
fn compose(unit: &[u8], has_breaks: bool, out: &mut Vec<u8>) {
    out.clear();
    for chunk in unit.utf8_chunks() {
        let (valid, mut composed) = (chunk.valid(), String::new());
        let mut at = 0;
        while let Some(character) = valid[at..].chars().next() {
            let (before, behind) = valid.split_at(at);
            let hyphen = has_breaks.then(|| hyphenation(before, behind)).flatten();
            if hyphen.is_none() {
                composed.push_str(&tokenizer::composed(character));
            }
            at += hyphen.unwrap_or(character.len_utf8());
        }
        out.extend_from_slice(String::from_iter(composed.nfc()).as_bytes());
        out.extend_from_slice(chunk.invalid());
    }
}

/// The length of the beginning that is ASCII without white space, but for single spaces before such
/// ASCII.
fn plain_length(text: &[u8]) -> usize {
    /// Bytes that are looked at together, with vector instructions.
    const BLOCK: usize = 32;
    let is_other = |byte: u8| (byte >= 0x80) | is_wide(byte);
    let ends =
        |byte: u8, next: u8| is_other(byte) | ((byte == b' ') & ((next == b' ') | is_other(next)));
    let mut at = 0;
    while let Some(block) = text.get(at..=at + BLOCK) {
        let pairs = block.iter().zip(&block[1..]);
        if pairs.fold(false, |found, (byte, next)| found | ends(*byte, *next)) {
            break;
        }
        at += BLOCK;
    }
    let rest = &text[at..];
    let ended = rest.windows(2).position(|pair| ends(pair[0], pair[1]));
    let is_last_other = rest.last().is_some_and(|last| is_other(*last));
    at + ended.unwrap_or(rest.len() - usize::from(is_last_other))
}

/// Whether a byte is ASCII white space besides the space.
#[inline(always)]
fn is_wide(byte: u8) -> bool {
    byte.wrapping_sub(9) < 5
}

/// What kinds of bytes a unit has.
struct Bytes {
    is_ascii: bool,
    /// Whether there is ASCII white space that is not a single space.
    has_wide_space: bool,
}

impl Bytes {
    /// One pass without branches, which the compiler turns into vector instructions.
    #[inline]
    fn of(unit: &[u8]) -> Bytes {
        let (mut high, mut wide) = (0u8, 0u8);
        let next = unit.get(1..).unwrap_or_default();
        for (&byte, &next) in unit.iter().zip(next) {
            high |= byte;
            wide |= u8::from(is_wide(byte)) | u8::from((byte | next) == b' ');
        }
        if let Some(&last) = unit.last() {
            high |= last;
            wide |= u8::from(is_wide(last));
        }
        Bytes {
            is_ascii: high < 0x80,
            has_wide_space: wide != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenizer::naive;
    use proptest::prelude::*;

    fn normal_form(normal: &str, unit: &[u8]) -> Vec<u8> {
        let mut normalizer = Normalizer::new(Normal::parse(normal).unwrap());
        normalizer.normal_form(unit).to_vec()
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["none", "case", "digits,spaces", "form,case,digits,spaces"] {
            assert_eq!(Normal::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Normal::default().to_string(), "form,spaces");
        for name in ["", "all", "case,", "none,case"] {
            assert!(Normal::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn differences_that_do_not_count_are_removed() {
        for (normal, unit, expected) in [
            ("none", " A  1 ", " A  1 "),
            ("spaces", " \tA \u{a0}\u{3000} 1\r", "A 1"),
            ("spaces", "A 1", "A 1"),
            ("spaces", "A\x0b1", "A 1"),
            ("case", "Straße ÄÖ A", "straße äö a"),
            ("digits", "1.5 m, ٣ 987", "0.0 m, ٣ 000"),
            ("case,digits,spaces", "  Page  12  of\t3 ", "page 00 of 0"),
            ("spaces", "\u{3000}", ""),
            ("spaces", "a\0b", "a\0b"),
            ("form", "l’e\u{301}te\u{301} Ａ\u{ad}b ﬁ", "l'été Ab fi"),
            ("form,spaces", "中 国\n人 A ที่ นี้", "中国人 A ที่นี้"),
            (
                "form,spaces",
                "exam-\n ple well-known a-\n1",
                "example well-known a- 1",
            ),
            ("form,spaces", "é exam\u{ad}\nple", "é example"),
            ("form,case", "ÉTÉ", "été"),
        ] {
            let found = normal_form(normal, unit.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{normal}");
        }
        assert_eq!(normal_form("case,spaces", b"\xff  \xc3A"), b"\xff \xc3a");
    }

    /// The definition, by characters alone.
    fn naive(normal: Normal, unit: &str) -> String {
        let mut text = unit.to_owned();
        if normal.form {
            if normal.spaces {
                text = naive::join(text.trim_ascii());
            }
            text = text
                .chars()
                .map(tokenizer::composed)
                .collect::<String>()
                .nfc()
                .collect();
        }
        if normal.spaces {
            let mut joined = String::new();
            for part in text.split_whitespace() {
                let next = part.starts_with(is_single);
                let base = joined.trim_end_matches(is_combining_mark);
                let is_between = normal.form && next && base.ends_with(is_single);
                joined += if joined.is_empty() || is_between {
                    ""
                } else {
                    " "
                };
                joined += part;
            }
            text = joined;
        }
        if normal.case {
            text = text.chars().flat_map(char::to_lowercase).collect();
        }
        if normal.digits {
            let zero = |character: char| match character.is_ascii_digit() {
                true => '0',
                false => character,
            };
            text = text.chars().map(zero).collect();
        }
        text
    }

    proptest! {
        /// Promise (Repeated units): Units, sentences and normal forms follow …
        #[test]
        fn forms_are_the_definition(
            unit in "[aA1 \t\r\n\u{b}\0\u{a0}éÉ\u{3000}\u{301}中ที่ﬁ’\u{ad}-]{0,24}",
            form: bool, case: bool, digits: bool, spaces: bool,
        ) {
            let normal = Normal { form, case, digits, spaces };
            let found = normal_form(&normal.to_string(), unit.as_bytes());
            prop_assert_eq!(String::from_utf8(found).unwrap(), naive(normal, &unit));
        }

        /// Promise (Repeated units): Units, sentences and normal forms follow …
        #[test]
        fn forms_of_long_units_are_the_definition(
            parts in prop::collection::vec("[aB1.]{0,40}[ \n\r\u{b}é\u{3000}中-]{0,3}", 0..6),
            form: bool, case: bool, spaces: bool,
        ) {
            let unit = parts.concat();
            let normal = Normal { form, case, digits: false, spaces };
            let found = normal_form(&normal.to_string(), unit.as_bytes());
            prop_assert_eq!(String::from_utf8(found).unwrap(), naive(normal, &unit));
        }

        #[test]
        fn any_bytes_have_a_form_that_is_its_own(
            unit in prop::collection::vec(any::<u8>(), 0..40), case: bool, digits: bool,
        ) {
            let normal = Normal { form: false, case, digits, spaces: true }.to_string();
            let once = normal_form(&normal, &unit);
            let twice = normal_form(&normal, &once);
            // Lower case of some characters has a part that is not its own lower case.
            prop_assert!(case || once == twice);
        }
    }
}
