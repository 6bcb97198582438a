//! Two texts side by side, with their differences marked.

use super::escape::{escape, escape_bytes};
use crate::alignment::tokens::{Equality, Gap, Token, numbers, tokens};
use crate::alignment::{Part, align};
use crate::number;

/// The maximum number of bytes of a text that are compared.
const MAX_COMPARED: usize = 1 << 20;
/// The maximum number of bytes compared for each byte shown.
const COMPARED_FOR_SHOWN: usize = 64;
/// The maximum number of bytes read for each byte of a beginning, as white space is not shown.
const READ_FOR_SHOWN: usize = 4;
/// The number of equal tokens kept before and after a difference.
const CONTEXT: usize = 24;

/// Both texts as HTML; about `most` bytes of each are shown.
///
/// Long equal parts are left out. Text that only the first one has is marked as deleted, text that
/// only the second one has as inserted, so that screen readers announce the marks.
pub fn difference(texts: [&[u8]; 2], most: usize) -> [String; 2] {
    shown(texts, most, Equality::Bytes)
}

/// The same, where words that differ in case only are equal.
pub(crate) fn difference_but_case(texts: [&[u8]; 2], most: usize) -> [String; 2] {
    shown(texts, most, Equality::Folded)
}

fn shown(texts: [&[u8]; 2], most: usize, equality: Equality) -> [String; 2] {
    let compared = texts.map(|text| &text[..text.len().min(compared_bytes(most))]);
    let tokens = compared.map(tokens);
    let [a, b] = numbers([&tokens[0], &tokens[1]], equality);
    let parts = align(&a, &b);
    let left_out = [0, 1].map(|side| texts[side].len() - compared[side].len());
    let is_equal = parts.iter().all(|part| part.is_equal) && left_out != [0, 0];
    [0, 1].map(|side| {
        let mut html = Renderer::new(side, &tokens[side], most).show(&parts, left_out[side]);
        if is_equal {
            let bytes = number::count(compared[side].len() as u64);
            html += &format!(
                " <span class=\"skipped\">(the first {bytes} bytes are the same, the rest is not \
                 compared)</span>"
            );
        }
        html
    })
}

const fn compared_bytes(most: usize) -> usize {
    let compared = most.saturating_mul(COMPARED_FOR_SHOWN);
    if compared < MAX_COMPARED {
        compared
    } else {
        MAX_COMPARED
    }
}

/// The bytes of a text that [`difference`] needs: more bytes do not change its result.
pub(crate) const fn difference_bytes(most: usize) -> usize {
    // One byte more says that there are more.
    compared_bytes(most) + 1
}

/// The beginning of a text as HTML, about `most` bytes of it.
pub(crate) fn beginning(text: &[u8], most: usize) -> String {
    let read = &text[..text.len().min(beginning_bytes(most) - 1)];
    let tokens = tokens(read);
    let all = Part {
        is_equal: true,
        tokens: [0..tokens.len(), 0..tokens.len()],
    };
    let renderer = Renderer::new(0, &tokens, most);
    renderer.show(&[all], text.len() - read.len())
}

/// The bytes of a text that [`beginning`] needs: more bytes do not change its result.
pub(crate) const fn beginning_bytes(most: usize) -> usize {
    most.saturating_mul(READ_FOR_SHOWN).saturating_add(1)
}

struct Renderer<'t> {
    side: usize,
    tokens: &'t [Token<'t>],
    /// The remaining number of bytes to show.
    left: usize,
    html: String,
}

impl<'t> Renderer<'t> {
    fn new(side: usize, tokens: &'t [Token<'t>], most: usize) -> Renderer<'t> {
        Renderer {
            side,
            tokens,
            left: most,
            html: String::new(),
        }
    }

    fn show(mut self, parts: &[Part], bytes_behind: usize) -> String {
        for (number, part) in parts.iter().enumerate() {
            let range = part.tokens[self.side].clone();
            let (first, last) = (number == 0, number + 1 == parts.len());
            let before = if first { 0 } else { CONTEXT };
            let after = if last { 0 } else { CONTEXT };
            if part.is_equal && range.len() > before + after + CONTEXT && !(first && last) {
                self.words(range.start..range.start + before, None);
                self.left_out(range.len() - before - after);
                self.words(range.end - after..range.end, None);
            } else {
                self.words(range, (!part.is_equal).then_some(["del", "ins"][self.side]));
            }
        }
        if self.tokens.is_empty() {
            self.html += "<span class=\"skipped\">no text</span>";
        }
        if self.left == 0 || bytes_behind > 0 {
            self.html += " <span class=\"skipped\">… and more</span>";
        }
        self.html
    }

    fn left_out(&mut self, count: usize) {
        if self.left > 0 {
            let count = number::count(count as u64);
            self.html += &format!(" <span class=\"skipped\">… {count} equal words …</span> ");
        }
    }

    fn words(&mut self, range: std::ops::Range<usize>, mark: Option<&str>) {
        let mut inner = String::new();
        let mut lead = String::new();
        for (place, token) in self.tokens[range].iter().enumerate() {
            if self.left == 0 {
                break;
            }
            let gap = match token.gap {
                Gap::None => String::new(),
                Gap::Space => " ".to_owned(),
                Gap::Line { is_blank, indent } => {
                    let line = if is_blank { "\n\n" } else { "\n" };
                    format!("{line}{}", " ".repeat(indent.into()))
                }
            };
            // White space before a mark is outside of it.
            if place == 0 {
                lead = gap
            } else {
                inner += &gap
            }
            // A token may be longer than the remaining number of bytes.
            let shown = &token.bytes[..token.bytes.len().min(self.left)];
            let whole = shown.len() == token.bytes.len();
            inner += &match std::str::from_utf8(shown) {
                Ok(text) => escape(text).into_owned(),
                Err(_) if whole => escape_bytes(shown),
                Err(error) => escape_bytes(&shown[..error.valid_up_to()]),
            };
            self.left -= shown.len();
        }
        // A text does not begin with white space.
        if !self.html.is_empty() {
            self.html += &lead;
        }
        if inner.is_empty() {
            return;
        }
        self.html += &match mark {
            Some(mark) => format!("<{mark}>{inner}</{mark}>"),
            None => inner,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_may_not_count() {
        let texts: [&[u8]; 2] = ["The Ärger of one".as_bytes(), "THE ÄRGER of two".as_bytes()];
        assert_eq!(
            difference_but_case(texts, 999),
            ["The Ärger of <del>one</del>", "THE ÄRGER of <ins>two</ins>"]
        );
    }

    #[test]
    fn only_what_differs_is_marked() {
        let shown = difference([b"the cat sat. <b>", b"the dog\nsat. <b>"], 999);
        assert_eq!(shown[0], "the <del>cat</del> sat. &lt;b&gt;");
        assert_eq!(shown[1], "the <ins>dog</ins>\nsat. &lt;b&gt;");
    }

    #[test]
    fn lines_and_indentation_of_code_are_kept() {
        let code = "fn a() {\n\tlet  b = 1;\n \n\n    c\r\n}\n".to_owned() + &" ".repeat(99) + "d";
        let shown = "fn a() {\n    let b = 1;\n\n    c\n}\n".to_owned() + &" ".repeat(40) + "d";
        assert_eq!(beginning(code.as_bytes(), 99), shown);
        let texts = difference([code.as_bytes(), b"fn a() {\n  other\n}"], 999);
        assert!(
            texts[1].ends_with("{\n  <ins>other\n}</ins>"),
            "{}",
            texts[1]
        );
    }

    #[test]
    fn long_equal_stretches_are_left_out() {
        let same = "same ".repeat(500);
        let texts = [format!("{same}one {same}"), format!("{same}two {same}")];
        let shown = difference([texts[0].as_bytes(), texts[1].as_bytes()], 9999);
        assert!(shown[0].contains("<del>one</del>"), "{}", shown[0]);
        assert_eq!(shown[0].matches("476 equal words").count(), 2);
        assert!(shown[1].len() < 500);
    }

    #[test]
    fn what_is_shown_has_an_end() {
        let texts = ["漢".repeat(5000), "x".repeat(5000)];
        let shown = difference([texts[0].as_bytes(), texts[1].as_bytes()], 100);
        assert!(
            shown
                .iter()
                .all(|html| html.len() < 200 && html.contains("and more"))
        );
        let shown = difference([b"", b"\xff\xfe\0"], 100);
        assert!(shown[0].contains("no text"));
        assert!(shown[1].contains("U+0000"));
    }

    #[test]
    fn equal_beginnings_of_longer_texts_say_so() {
        let same = "same ".repeat(5000);
        let texts = [format!("{same}one"), format!("{same}two")];
        for most in [100, 300] {
            let shown = difference([texts[0].as_bytes(), texts[1].as_bytes()], most);
            let says_so = |html: &String| html.contains("bytes are the same, the rest");
            assert!(shown.iter().all(says_so), "{}", shown[0]);
            let needed = texts
                .each_ref()
                .map(|text| &text.as_bytes()[..difference_bytes(most)]);
            assert_eq!(difference(needed, most), shown);
        }
        let shown = difference([same.as_bytes(), same.as_bytes()], 999_999);
        assert!(!shown[0].contains("compared"));
    }

    #[test]
    fn beginnings_have_an_end() {
        assert_eq!(beginning(b" a <b>\n c", 99), "a &lt;b&gt;\n c");
        for text in ["漢".repeat(5000), "word ".repeat(900), " ".repeat(9000)] {
            let shown = beginning(text.as_bytes(), 50);
            assert!(shown.ends_with("… and more</span>"), "{shown}");
            let needed = &text.as_bytes()[..beginning_bytes(50)];
            assert_eq!(beginning(needed, 50), shown);
        }
        assert!(beginning(b"", 9).contains("no text"));
    }

    proptest! {
        /// Promise (Methods and their evaluation): The HTML page of a deduplication runs …
        #[test]
        fn any_bytes_are_shown_without_markup_of_their_own(
            a in prop::collection::vec(any::<u8>(), 0..60),
            b in "[<>&'\"a-c \n/!-]{0,60}",
            most in 0usize..80,
        ) {
            for html in difference([&a, b.as_bytes()], most) {
                let mut rest = html;
                for known in ["<del>", "</del>", "<ins>", "</ins>", "<span class=\"skipped\">", "</span>"] {
                    rest = rest.replace(known, "");
                }
                prop_assert!(!rest.contains(['<', '>', '"', '\'']), "{}", rest);
            }
        }
    }
}
