//! The beginnings of texts, read again from the inputs.

use crate::Result;
use simtool_corpus::{Compression, Reading, Source};
use simtool_engine::Progress;
use simtool_engine::documents::source_of;
use simtool_engine::places::documents_at;

use crate::table::row::Row;
use crate::table::stamp::changed;

/// The characters of a beginning.
const CHARACTERS: usize = 100;
/// The most decompressed bytes that are read to reach a document.
const MOST_BYTES: u64 = 16 << 20;

/// Reads beginnings of texts.
#[derive(Clone, Copy)]
pub struct Beginnings<'a> {
    /// All sources.
    pub sources: &'a [Source],
    /// How they are read.
    pub reading: &'a Reading,
    /// Stops the run.
    pub progress: &'a Progress,
}

impl Beginnings<'_> {
    /// The first characters of a document's text, with one space for each run of white space. `None`
    /// if it is too far into a compressed member.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the text is no longer at its place; those
    /// of reading; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn of(&self, row: &Row) -> Result<Option<String>> {
        let source = source_of(self.sources, row.place.source)?;
        let place = row.place;
        let is_far = source.compression != Compression::None && place.offset > MOST_BYTES;
        if is_far && !source.format.is_whole_file() {
            return Ok(None);
        }
        let mut shown = None;
        // Nothing is read with it, such as damaged rows after it.
        let alone = Reading {
            chunk_bytes: 1,
            ..self.reading.clone()
        };
        documents_at(source, &alone, &[place], self.progress, |_, document| {
            if row.has_text(document.text) {
                shown = Some(beginning(document.text));
            }
        })?;
        shown.map(Some).ok_or_else(|| changed(source))
    }
}

/// The first characters of a text on one line.
fn beginning(text: &[u8]) -> String {
    // No character has more than four bytes; runs of white space may have any number.
    let mut shown = String::new();
    let mut count = 0;
    for chunk in text.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let is_blank = letter.is_whitespace();
            if is_blank && (shown.is_empty() || shown.ends_with(' ')) {
                continue;
            }
            if count == CHARACTERS {
                if is_blank {
                    continue;
                }
                shown.truncate(shown.trim_end().len());
                shown.push('\u{2026}');
                return shown;
            }
            shown.push(if is_blank { ' ' } else { letter });
            count += 1;
        }
        if !chunk.invalid().is_empty() && count < CHARACTERS {
            shown.push(char::REPLACEMENT_CHARACTER);
            count += 1;
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_one_line_of_whole_characters() {
        for (text, expected) in [
            (&b""[..], ""),
            (b" \n\t", ""),
            (b"\n a\r\n\tb  c \n", "a b c"),
            (b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(beginning(text), expected);
        }
        let exact = "\u{4e2d}".repeat(CHARACTERS);
        assert_eq!(beginning(exact.as_bytes()), exact);
        assert_eq!(beginning(format!("{exact} ").as_bytes()), exact);
        let long = format!("{exact}x");
        assert_eq!(beginning(long.as_bytes()), format!("{exact}\u{2026}"));
        let blank = format!("x{}y", " \n".repeat(1 << 16));
        assert_eq!(beginning(blank.as_bytes()), "x y");
        assert!(beginning(&[0xff; 999]).chars().count() <= CHARACTERS + 1);
    }
}
