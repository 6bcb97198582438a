//! Words of Unicode Standard Annex #29, by table.
//!
//! The rules are those of the crate `unicode-segmentation`, which is called only for rare segments.
//! All others are found by table: runs of letters, digits and underscores with their marks, and
//! joiners between two letters or two digits; characters that are words by themselves; and
//! separators.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::break_class::{BREAKS, BreakProperties, WordBreak};
use super::folding::Folder;
use super::hyphenation::hyphenation;
use super::sink::Sink;

/// Passes the words in `range` of `text` to `sink`, folded. A hyphen at the end of a line within a
/// word is left out, unlike in the Annex.
///
/// The range must be a run of [`Joined`](crate::kernel::runs::Class::Joined) bytes. Then neither
/// end is within a word, with two exceptions: marks at the start belong to the preceding character,
/// and an apostrophe may follow a Hebrew letter at the end.
pub(super) fn words(text: &str, range: Range<usize>, folder: &mut Folder, sink: &mut Sink<'_>) {
    let start = with_carrier(text, &range);
    let behind = text.as_bytes().get(range.end) == Some(&b'\'');
    let mut rest = &text[start..range.end + usize::from(behind)];
    // What the current word begins with, if a hyphen divides it.
    let mut divided: Option<&str> = None;
    while let Some(segment) = Segment::first(rest) {
        let (word, behind) = rest.split_at(segment.bytes);
        // A soft hyphen belongs to the segment before it.
        let parts = [word, word.strip_suffix('\u{ad}').unwrap_or(word)];
        let hyphen = parts.into_iter().find_map(|part| {
            let skipped = hyphenation(part, &rest[part.len()..])?;
            Some((part, part.len() + skipped))
        });
        if let Some((part, bytes)) = hyphen.filter(|_| segment.counts) {
            sink.folded_part(part, folder);
            divided = divided.or(Some(rest));
            rest = &rest[bytes..];
            continue;
        }
        let start = divided.take();
        let whole = start.unwrap_or(rest);
        sink.at(&whole.as_bytes()[..whole.len() - behind.len()]);
        match segment {
            Segment { counts: false, .. } => {}
            Segment { folds: false, .. } if start.is_none() => sink.word(word.as_bytes()),
            _ => {
                sink.folded_part(word, folder);
                sink.end();
            }
        }
        rest = behind;
    }
}

/// The start of the first segment of a run, which may be before the run if the run starts with
/// marks.
///
/// Spaces before and in the run form one segment, which matters only if marks follow.
fn with_carrier(text: &str, run: &Range<usize>) -> usize {
    let is_space = |character| BREAKS.of(character).class == WordBreak::Space;
    let behind = text[run.clone()].trim_start_matches(is_space);
    let first = behind.chars().next();
    if first.is_none_or(|first| BREAKS.of(first).class.is_apart()) {
        return run.start;
    }
    let before = &text[..run.end - behind.len()];
    let spaces = before.len() - before.trim_end_matches(is_space).len();
    let carrier = before.chars().next_back().map_or(0, char::len_utf8);
    before.len() - spaces.max(carrier)
}

/// A segment: text between two word boundaries.
#[derive(Default)]
struct Segment {
    bytes: usize,
    /// Whether folding changes the segment.
    folds: bool,
    /// Whether the segment is a word: it has a letter or a digit.
    counts: bool,
}

impl Segment {
    /// The segment at the start of `text`; `None` if `text` is empty.
    #[inline]
    fn first(text: &str) -> Option<Segment> {
        let breaks = BREAKS.of(text.chars().next()?);
        let simple = match breaks.class {
            WordBreak::Letter
            | WordBreak::Numeric
            | WordBreak::Connector
            | WordBreak::Katakana
            | WordBreak::Hebrew => Segment::run(text),
            WordBreak::Space
            | WordBreak::Opener
            | WordBreak::Extend
            | WordBreak::Joiner
            | WordBreak::Rare => None,
            _ => Segment::single(text),
        };
        simple.or_else(|| Segment::by_the_rules(text))
    }

    /// A run of letters, digits and connectors, or of Katakana, with their marks; `None` if it
    /// needs more rules.
    #[inline]
    fn run(text: &str) -> Option<Segment> {
        let mut segment = Segment::default();
        let mut characters = text.chars();
        let mut last = None;
        while let Some(character) = characters.next() {
            let breaks = BREAKS.of(character);
            match breaks.class {
                WordBreak::Letter if last == Some(WordBreak::Letter) => {}
                WordBreak::Extend => {}
                WordBreak::Letter | WordBreak::Numeric | WordBreak::Hebrew => {
                    if last == Some(WordBreak::Katakana) {
                        break;
                    }
                    last = Some(breaks.class);
                }
                WordBreak::Katakana => {
                    match last {
                        None | Some(WordBreak::Katakana) => {}
                        Some(WordBreak::Connector) => return None,
                        _ => break,
                    }
                    last = Some(breaks.class);
                }
                WordBreak::MidLetter | WordBreak::MidNumber | WordBreak::MidAny => {
                    let next = characters.clone().next();
                    let next = next.map(|next| BREAKS.of(next).class);
                    match joins(breaks.class, last, next) {
                        Some(true) => {}
                        Some(false) => break,
                        None => return None,
                    }
                }
                WordBreak::Connector if last == Some(WordBreak::Katakana) => return None,
                WordBreak::Connector => last = Some(breaks.class),
                WordBreak::Quote if last == Some(WordBreak::Hebrew) => return None,
                WordBreak::Joiner | WordBreak::Rare => return None,
                WordBreak::Quote
                | WordBreak::Single
                | WordBreak::Separator
                | WordBreak::Space
                | WordBreak::Opener => {
                    break;
                }
            }
            segment.add(character, breaks);
        }
        Some(segment)
    }

    /// A single character with its marks; `None` if it needs more rules.
    #[inline]
    fn single(text: &str) -> Option<Segment> {
        let mut segment = Segment::default();
        for character in text.chars() {
            let breaks = BREAKS.of(character);
            match breaks.class {
                WordBreak::Joiner | WordBreak::Rare if segment.bytes > 0 => return None,
                class if segment.bytes > 0 && class != WordBreak::Extend => break,
                _ => segment.add(character, breaks),
            }
        }
        Some(segment)
    }

    #[cold]
    fn by_the_rules(text: &str) -> Option<Segment> {
        let mut segment = Segment::default();
        let characters = text.split_word_bounds().next()?.chars();
        characters.for_each(|character| segment.add(character, BREAKS.of(character)));
        Some(segment)
    }

    #[inline]
    fn add(&mut self, character: char, breaks: BreakProperties) {
        self.bytes += character.len_utf8();
        self.folds |= breaks.folds;
        self.counts |= breaks.counts;
    }
}

/// Whether `joint` joins the characters on both sides; `None` if it needs more rules.
#[inline]
fn joins(joint: WordBreak, last: Option<WordBreak>, next: Option<WordBreak>) -> Option<bool> {
    match (last, next) {
        (Some(WordBreak::Hebrew), _) | (_, Some(WordBreak::Hebrew)) => None,
        (_, Some(next)) if !next.is_apart() => None,
        (Some(WordBreak::Letter), Some(WordBreak::Letter)) => Some(joint != WordBreak::MidNumber),
        (Some(WordBreak::Numeric), Some(WordBreak::Numeric)) => Some(joint != WordBreak::MidLetter),
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::Level;
    use crate::text::tokenizer::tests::naive;
    use crate::text::{Choice, Tokenizer};
    use proptest::prelude::*;

    /// The tokenizer finds the words of the library, in lower case.
    fn check(tokenizer: &mut Tokenizer, text: &str) {
        let mut found = Vec::new();
        tokenizer.for_each_word(text.as_bytes(), &mut |word| {
            found.push(String::from_utf8(word.to_vec()).unwrap());
        });
        let expected: Vec<String> = naive::unicode(text);
        assert_eq!(found, expected, "{text:?}");
    }

    /// Characters of every class, and special cases.
    fn odd() -> Vec<char> {
        "aZéßİΣ1٣_‿カｶ〱א'\"’.․,;:·\u{300}\u{ad}\u{93e}\u{200d}\u{200c}字ひก%-“😀Ⓜℹ🇦🇧\u{1f3fd} \
         \u{3000}\r\n\u{b}\u{85}\u{2028}˂\u{6dd}ᄀ각"
            .chars()
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn odd_characters_in_any_order(odd in prop::collection::vec(prop::sample::select(odd()), 0..40)) {
            let text = String::from_iter(odd);
            check(&mut Tokenizer::new(Choice::Unicode, Level::best()), &text);
        }

        #[test]
        fn any_characters_in_any_order(text in "\\PC{0,20}|[\\x00-\\x7f]{0,60}|\\p{L}{0,20}|[\\p{M}\\p{P}\\p{N}a]{0,30}") {
            check(&mut Tokenizer::new(Choice::Unicode, Level::best()), &text);
        }
    }

    #[test]
    fn every_three_odd_characters() {
        let mut tokenizer = Tokenizer::new(Choice::Unicode, Level::best());
        let odd = odd();
        for (first, second) in odd.iter().flat_map(|a| odd.iter().map(move |b| (a, b))) {
            for third in &odd {
                check(&mut tokenizer, &format!("{first}{second}{third}"));
            }
        }
    }

    #[test]
    fn every_character_among_others() {
        let mut tokenizer = Tokenizer::new(Choice::Unicode, Level::best());
        let others = '\u{e0000}'..='\u{e0200}';
        for character in ('\0'..='\u{20100}').chain(others) {
            let c = character;
            check(
                &mut tokenizer,
                &format!("a{c}a1{c}1 {c}a:{c},{c}'{c}\u{301}{c}{c}カ{c}א{c}א%{c}\u{200d}{c}字{c}"),
            );
        }
    }
}
