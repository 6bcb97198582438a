//! Text without control characters for terminals.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `bytes` with line feeds unchanged and everything else visible: control characters, characters
/// that change the writing direction, and bytes that are not UTF-8 are escaped, such as `\x1b` or
/// `\u{202e}`.
pub fn visible(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|letter| push(&mut text, letter));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A path on one line, in the form of [`visible`]; a line feed becomes `\x0a`.
pub fn visible_path(path: &Path) -> String {
    visible(path.as_os_str().as_bytes()).replace('\n', "\\x0a")
}

fn push(text: &mut String, letter: char) {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let _ = match letter {
        '\n' => text.write_char(letter),
        _ if letter.is_ascii_control() => write!(text, "\\x{:02x}", u32::from(letter)),
        _ if letter.is_control() || turns => write!(text, "{}", letter.escape_unicode()),
        _ => text.write_char(letter),
    };
}

/// The number of last bytes that begin an incomplete character: at most three.
pub fn incomplete_tail(bytes: &[u8]) -> usize {
    let tail = bytes
        .utf8_chunks()
        .last()
        .map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => tail.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_does_not_change() {
        let text = "id 1\n0:a b\n… 中文 é\n";
        assert_eq!(visible(text.as_bytes()), text);
    }

    #[test]
    fn control_characters_are_shown() {
        for (bytes, shown) in [
            (&b"\x1b[2J"[..], "\\x1b[2J"),
            (b"a\rb\x08\x7f\0", "a\\x0db\\x08\\x7f\\x00"),
            ("\u{9b}31m \u{202e}x".as_bytes(), "\\u{9b}31m \\u{202e}x"),
            (b"\xff\xe4\xb8", "\\xff\\xe4\\xb8"),
        ] {
            assert_eq!(visible(bytes), shown);
        }
    }

    #[test]
    fn a_path_stays_on_its_line() {
        let path = Path::new("a\x1b[2J\nplan: nothing");
        assert_eq!(visible_path(path), "a\\x1b[2J\\x0aplan: nothing");
    }

    #[test]
    fn incomplete_characters_are_recognised() {
        let text = "é中\u{1f600}".as_bytes();
        let tails: Vec<usize> = (0..=text.len())
            .map(|end| incomplete_tail(&text[..end]))
            .collect();
        assert_eq!(tails, [0, 1, 0, 1, 2, 0, 1, 2, 3, 0]);
        assert_eq!(incomplete_tail(b"ab\xff"), 0);
        assert_eq!(incomplete_tail(b"\xe4\xb8\xff"), 0);
    }
}
