//! The text of an HTML page: its main text, or all visible text.
//!
//! [`HtmlText::Main`] classifies the lines of visible text, in one pass and without a tree. The
//! [visible text](mod@visible_text) is used for pages without main text.

mod choice;
mod elements;
mod entities;
mod main;
pub(super) mod markup;
mod text_writer;
pub mod visible_text;

pub use entities::DecodedText;

use memchr::{memchr, memmem};

use super::HtmlText;
use visible_text::visible_text;

/// Appends the text of `html` to `out`.
///
/// Never fails and never panics. O(length) time.
pub fn text(html: &str, which: HtmlText, out: &mut Vec<u8>) {
    let is_found = match which {
        HtmlText::Markup => {
            out.extend_from_slice(html.as_bytes());
            true
        }
        HtmlText::Main => main::main_text(html, out),
        HtmlText::Visible => false,
    };
    if !is_found {
        visible_text(html.as_bytes(), out);
    }
}

/// The number of bytes searched for the first element.
const PROLOGUE_BYTES: usize = 4096;

/// Whether a text is an HTML page: it begins with `<!doctype html` or `<html`, after any white space,
/// byte-order mark, XML declaration and comments.
pub fn is_page(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rest = text[..text.len().min(PROLOGUE_BYTES)].trim_ascii_start();
    // For most texts, the loop ends at once.
    while rest.first() == Some(&b'<') {
        let end = match rest {
            [b'<', b'!', b'-', b'-', ..] => memmem::find(rest, b"-->").map(|end| end + 3),
            [b'<', b'?', b'x', b'm', b'l', ..] => memchr(b'>', rest).map(|end| end + 1),
            _ => return begins_with(rest, b"<!doctype html") || begins_with(rest, b"<html"),
        };
        rest = end.map_or(&[][..], |end| rest[end..].trim_ascii_start());
    }
    false
}

/// Whether `text` begins with `tag`, in upper or lower case, and the name ends there.
fn begins_with(text: &[u8], tag: &[u8]) -> bool {
    let begin = text.get(..tag.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(tag))
        && text
            .get(tag.len())
            .is_none_or(|&byte| byte == b'>' || byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests;
