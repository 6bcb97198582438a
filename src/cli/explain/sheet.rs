//! Two texts side by side, with shared and different passages.

use std::ops::Range;

use simtool::report::alignment::{Part, align};
use simtool::report::tokens::{Equality, Gap, Token, numbers, tokens};

use super::columns::{Columns, Piece};
use super::marks::{Marks, Side, TokenStyle};
use crate::cli::screen::visible::visible;

/// Tokens that are shown on each side of a fold.
const CONTEXT: usize = 16;
/// The fewest tokens that are folded.
const MIN_FOLD: usize = 10;
/// Tokens of a changed passage that are shown on each side of its fold.
const CHANGED_CONTEXT: usize = 150;
/// The fewest consecutive tokens that count as moved if the other text has them.
const MOVED_TOKENS: usize = 5;

const LEGEND: [(TokenStyle, &str); 3] = [
    (TokenStyle::Only(Side::A), "only in A"),
    (TokenStyle::Only(Side::B), "only in B"),
    (TokenStyle::Elsewhere, "in both, elsewhere"),
];

/// The two texts in columns of `width` in all, with control characters made visible. Long passages
/// are folded unless `full`.
pub fn side_by_side(
    texts: [&[u8]; 2],
    equality: Equality,
    width: usize,
    full: bool,
    marks: Marks,
) -> String {
    let tokens = texts.map(tokens);
    let numbers = numbers([&tokens[0], &tokens[1]], equality);
    let parts = align(&numbers[0], &numbers[1]);
    let mut sheet = Sheet {
        moved: moved(&numbers, &parts),
        tokens,
        columns: Columns::new(width, marks),
        full,
    };
    let last = parts.len().saturating_sub(1);
    for (number, part) in parts.iter().enumerate() {
        match part.is_equal {
            true => sheet.equal(part, number == 0, number == last),
            false => sheet.changed(part),
        }
    }
    let words: Vec<String> = LEGEND
        .iter()
        .map(|&(style, meaning)| {
            let [before, behind] = marks.around(style);
            format!("{before}{meaning}{behind}")
        })
        .collect();
    format!("{}\n\n{}", words.join("   "), sheet.columns.finish())
}

struct Sheet<'t> {
    tokens: [Vec<Token<'t>>; 2],
    /// For each token, whether the other text has it elsewhere.
    moved: [Vec<bool>; 2],
    columns: Columns,
    full: bool,
}

impl Sheet<'_> {
    /// Shows an equal part. Of a long one, only the ends next to changes are shown; if there is no
    /// change, both ends.
    fn equal(&mut self, part: &Part, is_first: bool, is_last: bool) {
        let length = part.tokens[0].len();
        let context = |is_end: bool| {
            if is_end && !(is_first && is_last) {
                0
            } else {
                CONTEXT
            }
        };
        let (head, tail) = (context(is_first), context(is_last));
        if self.full || length < head + tail + MIN_FOLD {
            return self.shared(part, 0..length);
        }
        self.shared(part, 0..head);
        let folded = part.tokens[0].start + head..part.tokens[0].end - tail;
        let text = self.fold(0, folded);
        self.columns.across(&text);
        self.shared(part, length - tail..length);
    }

    fn shared(&mut self, part: &Part, range: Range<usize>) {
        for place in range {
            let pair = [0, 1].map(|side| self.tokens[side][part.tokens[side].start + place]);
            if pair.iter().any(|token| token.gap.is_line()) {
                self.columns.end_row();
            }
            // They may differ in case.
            let shown = pair.map(|token| visible(token.bytes));
            self.columns.both([0, 1].map(|side| Piece {
                text: &shown[side],
                space: pair[side].gap == Gap::Space,
                style: TokenStyle::Shared,
            }));
        }
    }

    fn changed(&mut self, part: &Part) {
        for side in 0..2 {
            let range = part.tokens[side].clone();
            if self.full || range.len() < 2 * CHANGED_CONTEXT + MIN_FOLD {
                self.differs(side, range);
                continue;
            }
            let folded = range.start + CHANGED_CONTEXT..range.end - CHANGED_CONTEXT;
            self.differs(side, range.start..folded.start);
            self.columns.wrap(side);
            let text = self.fold(side, folded.clone());
            self.columns.one(
                side,
                Piece {
                    text: &text,
                    space: false,
                    style: TokenStyle::Shared,
                },
            );
            self.columns.wrap(side);
            self.differs(side, folded.end..range.end);
        }
    }

    fn differs(&mut self, side: usize, range: Range<usize>) {
        for place in range {
            let token = self.tokens[side][place];
            if token.gap.is_line() {
                self.columns.wrap(side);
            }
            let style = match (self.moved[side][place], side) {
                (true, _) => TokenStyle::Elsewhere,
                (false, 0) => TokenStyle::Only(Side::A),
                (false, _) => TokenStyle::Only(Side::B),
            };
            let shown = visible(token.bytes);
            let piece = Piece {
                text: &shown,
                space: token.gap == Gap::Space,
                style,
            };
            self.columns.one(side, piece);
        }
    }

    fn fold(&self, side: usize, range: Range<usize>) -> String {
        let words = self.tokens[side][range]
            .iter()
            .filter(|token| token.is_word())
            .count();
        format!("… {words} words …")
    }
}

/// For each token of a changed part, whether it is in a run of tokens that the other text has too.
fn moved(numbers: &[Vec<u32>; 2], parts: &[Part]) -> [Vec<bool>; 2] {
    [0, 1].map(|side| {
        let mut moved = vec![false; numbers[side].len()];
        let changed = parts.iter().filter(|part| !part.is_equal);
        let long: Vec<&Range<usize>> = changed
            .map(|part| &part.tokens[side])
            .filter(|range| range.len() >= MOVED_TOKENS)
            .collect();
        if long.is_empty() {
            return moved;
        }
        let mut others: Vec<&[u32]> = numbers[1 - side].windows(MOVED_TOKENS).collect();
        others.sort_unstable();
        for range in long {
            let runs = numbers[side][range.clone()].windows(MOVED_TOKENS);
            for (run, place) in runs.zip(range.start..) {
                if others.binary_search(&run).is_ok() {
                    moved[place..place + MOVED_TOKENS].fill(true);
                }
            }
        }
        moved
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, full: bool) -> String {
        let texts = [a.as_bytes(), b.as_bytes()];
        let text = side_by_side(texts, Equality::Bytes, 60, full, Marks::Brackets);
        text.split_once("\n\n").unwrap().1.to_owned()
    }

    fn words(range: Range<u32>) -> String {
        range.map(|number| format!("w{number} ")).collect()
    }

    #[test]
    fn differences_are_marked_in_place() {
        let found = shown("the quick brown fox", "the slow brown fox jumps", false);
        assert_eq!(
            found,
            "\
the [-quick-] brown fox      │ the {+slow+} brown fox\n                             │ {+jumps+}\n"
        );
    }

    #[test]
    fn differences_of_case_may_not_count() {
        let texts = ["The Quick brown ÉTÉ", "the quick Brown été"].map(str::as_bytes);
        let found = side_by_side(texts, Equality::Folded, 60, false, Marks::Brackets);
        let (_, found) = found.split_once("\n\n").unwrap();
        assert_eq!(
            found,
            "The Quick brown ÉTÉ          │ the quick Brown été\n"
        );
        let long = ["İ".repeat(100), "i\u{307}".repeat(100)];
        let texts = [long[0].as_bytes(), long[1].as_bytes()];
        let found = side_by_side(texts, Equality::Folded, 20, true, Marks::Brackets);
        for letter in ['İ', '\u{307}'] {
            assert_eq!(found.matches(letter).count(), 100, "{found}");
        }
    }

    #[test]
    fn long_equal_passages_are_folded_unless_full() {
        let (a, b) = (words(0..200), words(0..100) + "new " + &words(100..200));
        let found = shown(&a, &b, false);
        assert!(
            found.contains("… 84 words …") && found.contains("{+new+}"),
            "{found}"
        );
        assert!(found.contains("w84") && !found.contains("w83 ") && !found.contains("w116"));
        let found = shown(&a, &b, true);
        assert!(!found.contains('…') && found.contains("w0 ") && found.contains("w199"));
        assert!(shown(&a, &a, false).contains("… 168 words …"));
    }

    #[test]
    fn moved_text_is_distinguished_from_removed_text() {
        let moved = "a sentence that wanders from here to there ";
        let found = shown(
            &(moved.to_owned() + &words(0..40)),
            &(words(0..40) + moved),
            true,
        );
        assert!(
            found.contains("<~") && !found.contains("[-") && !found.contains("{+"),
            "{found}"
        );
    }

    #[test]
    fn unrelated_texts_are_shown_apart_and_folded() {
        let found = shown(&words(0..1000), &words(2000..3000), false);
        assert_eq!(found.matches("… 700 words …").count(), 2, "{found}");
    }

    #[test]
    fn nothing_can_control_the_terminal() {
        let texts: [&[u8]; 2] = [
            b"a \x1b[2J\x07 \xff\xfe b\r\x00",
            "a \u{202e}x \u{9b}31m b".as_bytes(),
        ];
        let found = side_by_side(texts, Equality::Bytes, 60, true, Marks::Brackets);
        let harmless =
            |letter: char| letter == '\n' || !letter.is_control() && letter != '\u{202e}';
        assert!(found.chars().all(harmless), "{found:?}");
        assert!(found.contains("\\x1b") && found.contains("\\u{202e}"));
    }

    #[test]
    fn empty_texts_are_fine() {
        assert_eq!(shown("", "", false), "");
        assert!(shown("", "word", false).contains("{+word+}"));
    }
}
