//! The units of a text with their hashes.

use std::ops::Range;

use memchr::memchr;
use xxhash_rust::xxh3::xxh3_128;

use super::kind::UnitKind;
use super::normal::{Normal, Normalizer};
use super::runs::{LineRuns, LineWords, RunHash};
use super::sentences::sentences;
use crate::text::tokenizer::Choice;

/// Finds the units of texts. Units whose normal form has only white space do not count.
pub struct UnitReader {
    kind: UnitKind,
    normal: Normal,
    normalizer: Normalizer,
    /// The words and the runs of lines, for runs of lines.
    line_runs: Option<(LineWords, LineRuns)>,
    /// The last sentences: their ranges and hashes.
    recent: Vec<(Range<usize>, [u8; 16])>,
}

impl UnitReader {
    /// A reader of units of this kind, which are equal if their normal forms are: those of runs are
    /// the normal forms of their lines or sentences. `words` is what counts as a word in runs of
    /// lines.
    pub fn new(kind: UnitKind, normal: Normal, words: Choice) -> UnitReader {
        let line_runs = match kind {
            UnitKind::Run(enough) => Some((LineWords::new(words, enough), LineRuns::new(enough))),
            _ => None,
        };
        UnitReader {
            kind,
            normal,
            line_runs,
            normalizer: Normalizer::new(normal),
            recent: Vec::new(),
        }
    }

    /// What a unit is.
    pub fn kind(&self) -> UnitKind {
        self.kind
    }

    /// Which differences between units do not count.
    pub fn normal(&self) -> Normal {
        self.normal
    }

    /// Calls `visit` with the range and the hash of each unit, in the order of their beginnings.
    ///
    /// A line has no line break at its end (`\n`, or `\r\n`); a paragraph ends with its last line
    /// that is not blank; a run of lines or sentences begins and ends with one that is not blank.
    /// Only runs overlap, of which none begins or ends before an earlier one does. O(length) time,
    /// and for runs of N sentences O(N) for each sentence.
    #[inline]
    pub fn for_each(&mut self, text: &[u8], visit: impl FnMut(Range<usize>, u128)) {
        match self.kind {
            UnitKind::Line => self.lines(text, visit),
            UnitKind::Run(_) => self.line_runs(text, visit),
            UnitKind::Paragraph if has_blank_line(text) => self.paragraphs(text, visit),
            UnitKind::Paragraph => self.lines(text, visit),
            UnitKind::Sentences(count) => self.runs(text, count, visit),
        }
    }

    /// The hash of the unit that is all of `text`; `None` if the text is not one unit.
    pub fn hash_of(&mut self, text: &[u8]) -> Option<u128> {
        match self.kind {
            UnitKind::Line | UnitKind::Paragraph => {
                let unit = without_breaks(text);
                let is_one = match self.kind {
                    UnitKind::Line => memchr(b'\n', unit).is_none(),
                    _ => !has_blank_line(unit),
                };
                is_one.then(|| self.hash(unit))?
            }
            UnitKind::Run(enough) => self.hash_of_run(text, enough),
            UnitKind::Sentences(_) => {
                let (mut found, mut units) = (None, 0);
                self.for_each(text, |_, hash| {
                    found = Some(hash);
                    units += 1;
                });
                found.filter(|_| units == 1)
            }
        }
    }

    #[inline]
    fn hash(&mut self, unit: &[u8]) -> Option<u128> {
        let form = self.normalizer.normal_form(unit);
        (!is_blank(form)).then(|| xxh3_128(form))
    }

    #[inline]
    fn lines(&mut self, text: &[u8], mut visit: impl FnMut(Range<usize>, u128)) {
        for line in lines(text) {
            if let Some(hash) = self.hash(&text[line.clone()]) {
                visit(line, hash);
            }
        }
    }

    fn line_runs(&mut self, text: &[u8], mut visit: impl FnMut(Range<usize>, u128)) {
        let Some((words, runs)) = &mut self.line_runs else {
            return;
        };
        runs.clear();
        for line in lines(text) {
            let form = self.normalizer.normal_form(&text[line.clone()]);
            if !is_blank(form) {
                runs.push(line, (xxh3_128(form), words.of(form)), &mut visit);
            }
        }
    }

    /// The hash of all lines of `text`; `None` unless they have enough words, and fewer without the
    /// first or without the last one.
    fn hash_of_run(&mut self, text: &[u8], enough: usize) -> Option<u128> {
        let (words, _) = self.line_runs.as_mut()?;
        let (mut hash, mut all, mut first, mut last) = (RunHash::EMPTY, 0, None, 0);
        for line in lines(text) {
            let form = self.normalizer.normal_form(&text[line]);
            if !is_blank(form) {
                hash.push(xxh3_128(form));
                last = words.of(form);
                all += last;
                first.get_or_insert(last);
            }
        }
        let shorter = all - last.max(first?);
        (all >= enough && shorter < enough).then_some(hash.value)
    }

    fn paragraphs(&mut self, text: &[u8], mut visit: impl FnMut(Range<usize>, u128)) {
        let mut paragraph: Option<Range<usize>> = None;
        let mut end = |paragraph: Option<Range<usize>>| {
            if let Some(range) = paragraph
                && let Some(hash) = self.hash(&text[range.clone()])
            {
                visit(range, hash);
            }
        };
        for line in lines(text) {
            if text[line.clone()].trim_ascii().is_empty() {
                end(paragraph.take());
                continue;
            }
            let start = paragraph.map_or(line.start, |paragraph| paragraph.start);
            paragraph = Some(start..line.end);
        }
        end(paragraph);
    }

    fn runs(&mut self, text: &[u8], count: usize, mut visit: impl FnMut(Range<usize>, u128)) {
        self.recent.clear();
        let mut joined = Vec::with_capacity(16 * count);
        for sentence in sentences(text) {
            let Some(hash) = self.hash(&text[sentence.clone()]) else {
                continue;
            };
            if self.recent.len() == count {
                self.recent.remove(0);
            }
            self.recent.push((sentence.clone(), hash.to_le_bytes()));
            if let (true, Some((first, _))) = (self.recent.len() == count, self.recent.first()) {
                joined.clear();
                self.recent
                    .iter()
                    .for_each(|(_, hash)| joined.extend_from_slice(hash));
                visit(first.start..sentence.end, xxh3_128(&joined));
            }
        }
    }
}

/// The ranges of the lines, without their line breaks.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest);
        let line = from..from + length.unwrap_or(rest.len());
        from = line.end + 1;
        let has_return = length.is_some() && text[line.clone()].ends_with(b"\r");
        Some(line.start..line.end - usize::from(has_return))
    })
}

/// Whether all characters are white space.
#[inline]
fn is_blank(mut form: &[u8]) -> bool {
    while let Some(first) = form.first() {
        // Most forms begin with such a character.
        if first.is_ascii_graphic() {
            return false;
        }
        // A character has at most four bytes.
        let longest = &form[..form.len().min(4)];
        let begins = longest.utf8_chunks().next();
        match begins.and_then(|chunk| chunk.valid().chars().next()) {
            Some(character) if character.is_whitespace() => form = &form[character.len_utf8()..],
            _ => return false,
        }
    }
    true
}

/// Whether a blank line is between two lines that are not blank.
fn has_blank_line(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    lines(text).any(|line| text[line].trim_ascii().is_empty())
}

/// The text without line breaks at its ends.
fn without_breaks(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_suffix(b"\n") {
        text = rest.strip_suffix(b"\r").unwrap_or(rest);
    }
    while let Some(rest) = text.strip_prefix(b"\n").or(text.strip_prefix(b"\r\n")) {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reader(kind: UnitKind, normal: Normal) -> UnitReader {
        UnitReader::new(kind, normal, Choice::Auto)
    }

    fn units(kind: &str, normal: &str, text: &str) -> Vec<(String, u128)> {
        let kind = UnitKind::parse(kind).unwrap();
        let mut reader = reader(kind, Normal::parse(normal).unwrap());
        let mut found = Vec::new();
        reader.for_each(text.as_bytes(), |range, hash| {
            found.push((text[range].to_owned(), hash));
        });
        found
    }

    fn texts(kind: &str, text: &str) -> Vec<String> {
        let found = units(kind, "spaces", text).into_iter();
        found.map(|(text, _)| text).collect()
    }

    #[test]
    fn units_of_white_space_do_not_count() {
        for blank in ["", " ", "\u{3000}", "\u{b}", " \u{a0}\u{2028}\t"] {
            for normal in ["none", "spaces", "case"] {
                assert_eq!(units("line", normal, blank), [], "{blank:?}, {normal}");
            }
        }
        for text in ["\u{3000}\u{200b}", "\0", " \u{1}"] {
            assert_eq!(units("line", "none", text).len(), 1, "{text:?}");
        }
        let mut reader = reader(UnitKind::Line, Normal::NONE);
        assert!(reader.hash_of(b"\xe3\x80").is_some());
    }

    /// Promise (Repeated units): A list of units with a text …
    #[test]
    fn a_text_of_several_units_has_no_hash() {
        for (kind, text, is_one) in [
            ("line", "\r\na b\r\n\n", true),
            ("line", "a\nb", false),
            ("line", "a\r\n\r\nb\n", false),
            ("paragraph", "a\nb\n", true),
            ("paragraph", "a\n \nb", false),
            ("sentences:2", "A. B. C.", false),
            ("run:12", "a\n\nb\nc\n-", true),
            ("run:12", "-\na\nb\nc", true),
            ("run:12", "a\nb", false),
            ("run:12", "-\na\nb\nc\n-", false),
            ("run:12", "a\nb\nc\nd", false),
            ("run:12", "", false),
        ] {
            let kind = UnitKind::parse(kind).unwrap();
            let mut reader = reader(kind, Normal::default());
            assert_eq!(
                reader.hash_of(text.as_bytes()).is_some(),
                is_one,
                "{kind} {text:?}"
            );
        }
    }

    #[test]
    fn units_are_found() {
        for (kind, text, expected) in [
            ("line", "a\r\n\r\n b \n\u{3000}\nc", vec!["a", " b ", "c"]),
            ("line", "", vec![]),
            ("line", "\n\n", vec![]),
            ("line", "one\rline\0", vec!["one\rline\0"]),
            ("paragraph", "a\nb\n \nc\r\nd\r\n", vec!["a\nb", "c\r\nd"]),
            ("paragraph", "\n\na\nb\n\n", vec!["a", "b"]),
            (
                "sentences:2",
                "A. B. C.\nD",
                vec!["A. B.", "B. C.", "C.\nD"],
            ),
            ("sentences:2", "A.", vec![]),
            (
                "run:10",
                " a\r\n\n-\nb \r\n c\n",
                vec![" a\r\n\n-\nb ", "-\nb \r\n c", "b \r\n c"],
            ),
            ("run:10", "a\nb\n-", vec!["a\nb", "a\nb\n-"]),
            ("run:10", "a\n", vec![]),
            (
                "run:6",
                "a b c d e f\n中中中中中中",
                vec!["a b c d e f", "中中中中中中"],
            ),
        ] {
            assert_eq!(texts(kind, text), expected, "{kind} {text:?}");
        }
    }

    #[test]
    fn equal_normal_forms_have_equal_hashes() {
        let hashes = |kind, normal, text| -> Vec<u128> {
            units(kind, normal, text)
                .into_iter()
                .map(|(_, hash)| hash)
                .collect()
        };
        let found = hashes("line", "spaces", "a  b\n\ta b \na c");
        assert!(found[0] == found[1] && found[0] != found[2]);
        let found = hashes("line", "none", "a b\na b \nA b");
        assert!(found[0] != found[1] && found[0] != found[2]);
        let found = hashes("sentences:2", "case", "A b. C. a B. c. a");
        assert!(found[0] == found[2] && found[0] != found[1]);
    }

    proptest! {
        /// Promise (Repeated units): Units, sentences and normal forms follow their definitions for
        /// any bytes; the text of a unit is that unit again
        #[test]
        fn the_text_of_a_unit_has_its_hash(
            text in "[aA. \n\r\u{3000}中\0]{0,24}", kind in 0..5usize, none: bool,
        ) {
            let kind = ["line", "paragraph", "sentences:1", "sentences:3", "run:12"][kind];
            let normal = if none { "none" } else { "spaces" };
            let mut reader =
                reader(UnitKind::parse(kind).unwrap(), Normal::parse(normal).unwrap());
            for (unit, hash) in units(kind, normal, &text) {
                prop_assert_eq!(reader.hash_of(unit.as_bytes()), Some(hash));
            }
        }

        /// Promise (Repeated units): Units, sentences and normal forms follow …
        #[test]
        fn any_bytes_have_units_in_order(
            text in prop::collection::vec(any::<u8>(), 0..60), kind in 0..4usize,
        ) {
            let kind = ["line", "paragraph", "sentences:2", "run:9"][kind];
            let mut reader = reader(UnitKind::parse(kind).unwrap(), Normal::default());
            let (mut start, mut end) = (0, 0);
            reader.for_each(&text, |range, _| {
                let is_next = (range.start, range.end) > (start, end) && range.end >= end;
                assert!(range.start >= start && is_next && range.end <= text.len());
                (start, end) = (range.start, range.end);
            });
        }
    }
}
