//! Normal forms of units: which differences between two units do not count.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128;

use crate::{Error, ErrorKind, Result};

/// Which differences between two units do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Normal {
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
            spaces: true,
            ..Normal::NONE
        }
    }
}

impl Normal {
    /// Every difference of bytes counts.
    pub const NONE: Normal = Normal {
        case: false,
        digits: false,
        spaces: false,
    };

    /// Reads `none`, or a list of `case`, `digits` and `spaces` with commas between them.
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
                "case" => &mut normal.case,
                "digits" => &mut normal.digits,
                "spaces" => &mut normal.spaces,
                _ => {
                    let message = format!(
                        "normal form {text:?}: expected none, or some of case, digits and spaces, \
                         separated by commas"
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
}

impl Normalizer {
    /// A maker of this normal form.
    pub fn new(normal: Normal) -> Normalizer {
        Normalizer {
            normal,
            buffer: Vec::new(),
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
            case,
            digits,
            spaces,
        } = self.normal;
        let unit = if spaces { unit.trim_ascii() } else { unit };
        if !(spaces || case || digits) {
            return unit;
        }
        let kind = Bytes::of(unit);
        let is_copied = !kind.is_ascii || (spaces && kind.has_wide_space);
        if !(is_copied || case || digits) {
            return unit;
        }
        self.buffer.clear();
        match is_copied {
            true => self.append_characters(unit),
            false => {
                self.buffer.extend_from_slice(unit);
                if case {
                    self.buffer.make_ascii_lowercase();
                }
            }
        }
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
                self.append_due_space(&mut is_space_due);
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
                self.append_due_space(is_space_due);
                match case {
                    true => character
                        .to_lowercase()
                        .for_each(|lower| self.append(lower)),
                    false => self.append(character),
                }
            }
            if !part.invalid().is_empty() {
                self.append_due_space(is_space_due);
                self.buffer.extend_from_slice(part.invalid());
            }
        }
    }

    fn append_due_space(&mut self, is_space_due: &mut bool) {
        if std::mem::take(is_space_due) {
            self.buffer.push(b' ');
        }
    }

    fn append(&mut self, character: char) {
        let mut bytes = [0; 4];
        self.buffer
            .extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
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
    use proptest::prelude::*;

    fn form(normal: &str, unit: &[u8]) -> Vec<u8> {
        let mut normalizer = Normalizer::new(Normal::parse(normal).unwrap());
        normalizer.normal_form(unit).to_vec()
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["none", "case", "digits,spaces", "case,digits,spaces"] {
            assert_eq!(Normal::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Normal::default().to_string(), "spaces");
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
        ] {
            let found = form(normal, unit.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{normal}");
        }
        assert_eq!(form("case,spaces", b"\xff  \xc3A"), b"\xff \xc3a");
    }

    /// The definition, by characters alone.
    fn naive(normal: Normal, unit: &str) -> String {
        let mut text = unit.to_owned();
        if normal.spaces {
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
            unit in "[aA1 \t\r\u{b}\0\u{a0}éÉ\u{3000}\u{301}中]{0,24}",
            case: bool, digits: bool, spaces: bool,
        ) {
            let normal = Normal { case, digits, spaces };
            let found = form(&normal.to_string(), unit.as_bytes());
            prop_assert_eq!(String::from_utf8(found).unwrap(), naive(normal, &unit));
        }

        /// Promise (Repeated units): Units, sentences and normal forms follow …
        #[test]
        fn forms_of_long_units_are_the_definition(
            parts in prop::collection::vec("[aB1.]{0,40}[ \n\r\u{b}é\u{3000}中]{0,3}", 0..6),
            case: bool, spaces: bool,
        ) {
            let unit = parts.concat();
            let normal = Normal { case, digits: false, spaces };
            let found = form(&normal.to_string(), unit.as_bytes());
            prop_assert_eq!(String::from_utf8(found).unwrap(), naive(normal, &unit));
        }

        #[test]
        fn any_bytes_have_a_form_that_is_its_own(
            unit in prop::collection::vec(any::<u8>(), 0..40), case: bool, digits: bool,
        ) {
            let normal = Normal { case, digits, spaces: true }.to_string();
            let once = form(&normal, &unit);
            let twice = form(&normal, &once);
            // Lower case of some characters has a part that is not its own lower case.
            prop_assert!(case || once == twice);
        }
    }
}
