//! The text of a page.

use super::compose::{Punctuation, Token};
use super::lexicon::Lexicon;
use super::settings::Script;

/// The length in bytes after which a line of words with spaces is broken.
const LINE: usize = 72;

/// Appends a page: its id on a line, then its text and a line break.
///
/// English words are separated by spaces, with about [`LINE`] bytes on a line; the first word of a
/// sentence is capitalised. Chinese characters have no separators. Paragraphs are separated by an
/// empty line. Numbers and punctuation contain no ASCII letters, so the words of the text are the tokens.
pub(super) fn write_page(id: &str, tokens: &[Token], lexicon: &Lexicon, out: &mut Vec<u8>) {
    out.extend_from_slice(id.as_bytes());
    out.push(b'\n');
    let mut line_start = out.len();
    let mut before = None;
    for token in tokens {
        if let Some(before) = before
            && write_separator(before, token, out.len() - line_start, out)
        {
            line_start = out.len();
        }
        if token.number > 0 {
            write_number(token.number, out);
            if token.script == Script::English {
                out.push(b' ');
            }
        }
        let start = out.len();
        lexicon.write(token.script, token.rank, out);
        let begins = before.is_none_or(|before| before.punctuation >= Punctuation::Stop);
        if (begins || token.is_name) && token.script == Script::English {
            out[start].make_ascii_uppercase();
        }
        out.extend_from_slice(punctuation(token));
        before = Some(token);
    }
    out.push(b'\n');
}

/// Writes the separator of two words. Returns whether it begins a line.
fn write_separator(before: &Token, token: &Token, line: usize, out: &mut Vec<u8>) -> bool {
    if before.punctuation == Punctuation::Paragraph {
        out.extend_from_slice(b"\n\n");
        return true;
    }
    if before.script == Script::Chinese && token.script == Script::Chinese {
        return false;
    }
    let begins_line = line >= LINE;
    out.push(if begins_line { b'\n' } else { b' ' });
    begins_line
}

fn punctuation(token: &Token) -> &'static [u8] {
    let (english, chinese) = match token.punctuation {
        Punctuation::None => ("", ""),
        Punctuation::Comma => (",", "，"),
        Punctuation::Stop | Punctuation::Paragraph => (".", "。"),
        Punctuation::Question => ("?", "？"),
        Punctuation::Exclamation => ("!", "！"),
    };
    if token.script == Script::English {
        english.as_bytes()
    } else {
        chinese.as_bytes()
    }
}

fn write_number(number: u16, out: &mut Vec<u8>) {
    let digits = [
        number / 1000,
        number / 100 % 10,
        number / 10 % 10,
        number % 10,
    ];
    let leading = digits.iter().take_while(|&&digit| digit == 0).count();
    out.extend(digits[leading..].iter().map(|&digit| b'0' + digit as u8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::settings::CorpusSettings;

    fn token(script: Script, rank: u64, number: u16, punctuation: Punctuation) -> Token {
        Token {
            rank,
            script,
            is_name: false,
            number,
            punctuation,
        }
    }

    #[test]
    fn sentences_have_capitals_punctuation_and_numbers() {
        let lexicon = Lexicon::new(&CorpusSettings::default());
        let mut out = Vec::new();
        let tokens = [
            token(Script::English, 0, 0, Punctuation::Comma),
            token(Script::English, 1, 1070, Punctuation::Question),
            token(Script::English, 2, 0, Punctuation::Paragraph),
            token(Script::English, 3, 0, Punctuation::Stop),
        ];
        write_page("page 1", &tokens, &lexicon, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "page 1\nThe, 1070 of? And.\n\nTo.\n"
        );
    }

    #[test]
    fn chinese_has_no_spaces() {
        let lexicon = Lexicon::new(&CorpusSettings::default());
        let mut out = Vec::new();
        let tokens = [
            token(Script::Chinese, 0, 0, Punctuation::Comma),
            token(Script::Chinese, 1, 7, Punctuation::Paragraph),
        ];
        write_page("page 2", &tokens, &lexicon, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "page 2\n\u{4e01}，7\u{6cf0}。\n"
        );
    }

    #[test]
    fn lines_break_between_words() {
        let lexicon = Lexicon::new(&CorpusSettings::default());
        let mut out = Vec::new();
        write_page(
            "x",
            &[token(Script::English, 0, 0, Punctuation::None); 100],
            &lexicon,
            &mut out,
        );
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().all(|line| line.len() < LINE + 16));
        assert_eq!(text.split_whitespace().count(), 101);
    }
}
