//! Words of source code, in one pass over the bytes, without a parser for each language.
//!
//! * A *word* is a run of letters, digits, `_`, `$` and bytes from 0x80 on, in its own case. A number
//!   has its fraction: `3.14`.
//! * Every other byte that is not blank is a word: operators, brackets, punctuation; with a
//!   backslash, the next one.
//! * A string is its words between two words `"`, whatever the quotation marks are. It ends at its
//!   mark or, if that is a single one, at the end of the line.
//! * Comments are left out or are words like the others. `//`, `/*`, `#` with a blank behind it, and
//!   `<!--` begin one where a line or, the first two, a statement begins; three quotation marks do at
//!   the beginning of a line behind `:` or of a text. Those that do not end are no comments.
//! * [`INDENT`] is a word where, outside brackets, a line behind `:` is indented more than the line
//!   before, and [`DEDENT`] where a line is not any more, as in Python.
//!
//! Without the name of the language some comments are words, such as those behind a statement on a
//! line, or of Lisp.

use memchr::{memchr2, memmem};

use super::sink::Sink;

/// The word where a block begins by its indentation.
pub(super) const INDENT: &[u8] = b"\t";
/// The word where such a block ends.
pub(super) const DEDENT: &[u8] = b"\n";
/// The word at both ends of a string.
pub(super) const QUOTE: &[u8] = b"\"";

/// What ends comments.
const CLOSERS: [&[u8]; 4] = [b"*/", b"-->", b"\"\"\"", b"'''"];
/// Words behind `# ` that make no comment.
const DIRECTIVES: [&str; 17] = [
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "else",
    "endif",
    "define",
    "undef",
    "include",
    "include_next",
    "import",
    "pragma",
    "error",
    "warning",
    "line",
    "region",
    "endregion",
];
/// More bytes than a directive has.
const MAX_DIRECTIVE: usize = 16;
/// The columns between the stops of tabs.
const TAB: usize = 8;

/// Passes the words of `text` to `sink`, with those of comments if `keeps_comments`.
///
/// O(length) time, and memory for the open blocks.
pub(super) fn words(text: &[u8], keeps_comments: bool, sink: &mut Sink<'_>) {
    let mut scanner = Scanner {
        text,
        at: if text.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        },
        is_line_new: true,
        column: 0,
        line_column: 0,
        depth: 0,
        blocks: Vec::new(),
        quote: None,
        last: Last::None,
        missing: [false; CLOSERS.len()],
    };
    while let Some(&byte) = text.get(scanner.at) {
        match byte {
            b'\n' | b'\r' => scanner.end_line(),
            _ if is_blank(byte) => scanner.blank(byte),
            _ => scanner.word(byte, keeps_comments, sink),
        }
    }
}

/// The last word of code, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    None,
    Colon,
    /// The end of a statement: `;`, `{`, `}` or `,`.
    End,
    Other,
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether the line has no word yet.
    is_line_new: bool,
    column: usize,
    /// The column of the first word of the last line outside brackets.
    line_column: usize,
    /// The number of open brackets.
    depth: usize,
    /// The columns of the lines before open blocks.
    blocks: Vec<usize>,
    /// The mark of the open string, and how many of it.
    quote: Option<(u8, usize)>,
    last: Last,
    /// Which of [`CLOSERS`] do not occur any more.
    missing: [bool; CLOSERS.len()],
}

impl Scanner<'_> {
    fn end_line(&mut self) {
        self.at += 1;
        self.quote = self.quote.filter(|(_, count)| *count > 1);
        if self.quote.is_none() {
            self.is_line_new = true;
            self.column = 0;
        }
    }

    fn blank(&mut self, byte: u8) {
        self.at += 1;
        if self.is_line_new {
            self.column = match byte {
                b'\t' => self.column / TAB * TAB + TAB,
                _ => self.column + 1,
            };
        }
    }

    fn word(&mut self, byte: u8, keeps_comments: bool, sink: &mut Sink<'_>) {
        let rest = &self.text[self.at..];
        if let Some((mark, count)) = self.quote {
            if rest.len() >= count && rest[..count].iter().all(|byte| *byte == mark) {
                self.emit(count, QUOTE, sink);
                self.quote = None;
            } else {
                let bytes = piece(rest);
                self.emit(bytes, &rest[..bytes], sink);
            }
            return;
        }
        if let Some(bytes) = self.comment(byte) {
            if keeps_comments {
                self.comment_words(bytes, sink);
            }
            self.at += bytes;
            return;
        }
        let quotes = match byte {
            b'"' | b'\'' if rest.starts_with(&[byte; 3]) => 3,
            b'"' | b'\'' | b'`' => 1,
            _ => 0,
        };
        let bytes = if quotes > 0 { quotes } else { piece(rest) };
        if self.is_line_new {
            self.begin_line(&rest[..bytes], sink);
        }
        if quotes > 0 {
            self.emit(bytes, QUOTE, sink);
            self.quote = Some((byte, quotes));
            self.last = Last::Other;
            return;
        }
        match byte {
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.last = match byte {
            b':' => Last::Colon,
            b';' | b'{' | b'}' | b',' => Last::End,
            _ => Last::Other,
        };
        self.emit(bytes, &rest[..bytes], sink);
    }

    /// Emits a word that takes the next `bytes` of the text.
    fn emit(&mut self, bytes: usize, word: &[u8], sink: &mut Sink<'_>) {
        sink.at(&self.text[self.at..self.at + bytes]);
        sink.word(word);
        self.at += bytes;
    }

    /// Emits the ends and the beginning of blocks before the first word of a line.
    fn begin_line(&mut self, first: &[u8], sink: &mut Sink<'_>) {
        self.is_line_new = false;
        if self.depth > 0 {
            return;
        }
        sink.at(first);
        while self
            .blocks
            .pop_if(|column| self.column <= *column)
            .is_some()
        {
            sink.word(DEDENT);
        }
        if self.last == Last::Colon && self.column > self.line_column {
            self.blocks.push(self.line_column);
            sink.word(INDENT);
        }
        self.line_column = self.column;
    }

    fn comment_words(&self, bytes: usize, sink: &mut Sink<'_>) {
        let mut rest = &self.text[self.at..self.at + bytes];
        while let Some(&byte) = rest.first() {
            let bytes = if is_blank(byte) { 1 } else { piece(rest) };
            if !is_blank(byte) {
                sink.at(&rest[..bytes]);
                sink.word(&rest[..bytes]);
            }
            rest = &rest[bytes..];
        }
    }

    /// The length of the comment that begins here.
    fn comment(&mut self, byte: u8) -> Option<usize> {
        let rest = &self.text[self.at..];
        let begins = self.is_line_new;
        match byte {
            b'"' | b'\'' if begins && self.depth == 0 && rest.starts_with(&[byte; 3]) => {
                let may_be = matches!(self.last, Last::None | Last::Colon);
                may_be
                    .then(|| self.closed(if byte == b'"' { 2 } else { 3 }, 3))
                    .flatten()
            }
            b'#' if self.at == 0 && rest.starts_with(b"#!") && !rest.starts_with(b"#![") => {
                Some(line_length(rest))
            }
            b'/' if begins || self.last == Last::End => match rest.get(1) {
                Some(b'/') => Some(line_length(rest)),
                Some(b'*') => self.closed(0, 2),
                _ => None,
            },
            b'<' if begins && rest.starts_with(b"<!--") => self.closed(1, 4),
            b'#' if begins => hash_comment(rest),
            _ => None,
        }
    }

    /// The length of the comment with an opener of `opener` bytes, if its end is found.
    fn closed(&mut self, closer: usize, opener: usize) -> Option<usize> {
        if self.missing[closer] {
            return None;
        }
        let inside = &self.text[self.at + opener..];
        let found = memmem::find(inside, CLOSERS[closer]);
        self.missing[closer] = found.is_none();
        found.map(|place| opener + place + CLOSERS[closer].len())
    }
}

/// The length of a line `# text`, `#` or `###`; not of `#text` nor of a directive such as
/// `# define`.
fn hash_comment(line: &[u8]) -> Option<usize> {
    let hashes = line.iter().take_while(|byte| **byte == b'#').count();
    match line.get(hashes) {
        None | Some(b'\n' | b'\r') => return Some(hashes),
        Some(b' ' | b'\t') => {}
        Some(_) => return None,
    }
    let blanks = line[hashes..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let behind = &line[hashes + blanks..];
    let longest = behind.iter().take(MAX_DIRECTIVE);
    let word = &behind[..longest.take_while(|byte| is_word(**byte)).count()];
    let is_directive = DIRECTIVES
        .iter()
        .any(|directive| directive.as_bytes() == word);
    (!is_directive).then(|| line_length(line))
}

/// The length up to the end of the line.
fn line_length(text: &[u8]) -> usize {
    memchr2(b'\n', b'\r', text).unwrap_or(text.len())
}

/// The length of the word at the start of `text`, which is not blank.
fn piece(text: &[u8]) -> usize {
    let run = |from: usize| {
        text[from..]
            .iter()
            .take_while(|byte| is_word(**byte))
            .count()
    };
    let is_digit = |place: usize| text.get(place).is_some_and(u8::is_ascii_digit);
    if text[0] == b'\\' {
        return 1 + usize::from(text.get(1).is_some_and(u8::is_ascii_graphic));
    }
    let mut bytes = run(0);
    if text[0].is_ascii_digit() {
        while text.get(bytes) == Some(&b'.') && is_digit(bytes + 1) {
            bytes += 1 + run(bytes + 1);
        }
    }
    bytes.max(1)
}

#[inline]
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::Level;
    use crate::text::{Choice, Tokenizer, WordRange};

    fn found(choice: Choice, text: &[u8]) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        Tokenizer::new(choice, Level::best()).for_each_word(text, &mut |w| words.push(w.to_vec()));
        words
    }

    fn code(text: &str) -> String {
        let words = found(Choice::Code, text.as_bytes());
        let words = words.iter().map(|word| match &word[..] {
            INDENT => "→",
            DEDENT => "←",
            word => str::from_utf8(word).unwrap(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn signs_are_words() {
        assert_eq!(code("x1 += y[0] * 3.14e5;"), "x1 + = y [ 0 ] * 3.14e5 ;");
        assert_ne!(code("return a + b"), code("return a - b"));
        assert_eq!(code("1..2 a.b Ünï $x"), "1 . . 2 a . b Ünï $x");
        assert_eq!(code(r"s = 'it\'s' + `a`"), r#"s = " it \' s " + " a ""#);
        assert_eq!(code("a 'open\nb // no"), "a \" open b / / no");
    }

    #[test]
    fn comments_are_left_out() {
        assert_eq!(
            code("// one\nint a; /* two\n */ int b; // three\nc"),
            "int a ; int b ; c"
        );
        assert_eq!(code("#!/bin/sh\n# text\necho #x\n#"), "echo # x");
        assert_eq!(
            code("#include <a>\n# define X\n## text"),
            "# include < a > # define X"
        );
        assert_eq!(
            code("\"\"\"docs\n\"\"\"\nx = \"\"\"kept\"\"\""),
            "x = \" kept \""
        );
        assert_eq!(code("a = b // c"), "a = b / / c");
        assert_eq!(code("/* never closed"), "/ * never closed");
        assert_eq!(
            code("url = \"http://x/*\"\ny"),
            "url = \" http : / / x / * \" y"
        );
        assert_eq!(code("<!-- x -->\n<p>"), "< p >");
        let both = found(Choice::CodeAndComments, b"a; // b c");
        assert_eq!(both, [&b"a"[..], b";", b"/", b"/", b"b", b"c"]);
    }

    #[test]
    fn indentation_counts_behind_a_colon() {
        let inside = code("if a:\n    b()\n    c()\nd()");
        assert_eq!(inside, "if a : → b ( ) c ( ) ← d ( )");
        assert_ne!(inside, code("if a:\n    b()\nc()\nd()"));
        assert_eq!(
            code("if a:\n\tb\nif a:\n        b"),
            "if a : → b ← if a : → b"
        );
        assert_eq!(code("{\n    a: [\n  1]\n}"), "{ a : [ 1 ] }");
    }

    /// What a text may be made of.
    const PARTS: &[&str] = &[
        "\"", "'", "`", "\"\"\"", "'''", "//", "/*", "*/", "<!--", "-->", "#", "# ", "#!", "\n",
        "\r", "\t", "    ", ":", "(", ")", "{", "}", ";", ",", "a", "é", "3", ".", "\\", "x1",
        "\u{7f}",
    ];

    proptest! {
        /// Promise (Correct answers): The words of code have each sign of it
        #[test]
        fn all_but_blanks_is_in_words(
            parts in prop::collection::vec(prop::sample::select(PARTS), 0..60),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            for text in [parts.concat().into_bytes(), bytes] {
                let mut ranges: Vec<WordRange> = Vec::new();
                let mut tokenizer = Tokenizer::new(Choice::CodeAndComments, Level::best());
                tokenizer.word_ranges(&text, &mut ranges);
                ranges.dedup();
                let mut is_covered = vec![false; text.len()];
                for range in ranges {
                    for covered in &mut is_covered[range.start as usize..range.end as usize] {
                        prop_assert!(!std::mem::replace(covered, true));
                    }
                }
                let mark = usize::from(text.starts_with(b"\xef\xbb\xbf")) * 3;
                for (place, byte) in text.iter().enumerate().skip(mark) {
                    prop_assert_eq!(is_covered[place], !is_blank(*byte));
                }
                // Without comments, some words are missing, and none is another one.
                let all = found(Choice::CodeAndComments, &text);
                let mut all = all.iter();
                let kept = found(Choice::Code, &text);
                prop_assert!(kept.iter().all(|word| all.any(|other| other == word)));
            }
        }
    }
}
