//! HTML entities that were left in a text, decoded for comparison.

use std::ops::Range;

use htmlize::{Context, unescape_bytes_in};
use memchr::{memchr, memchr_iter};
use simtool_core::text::WordRange;

/// More bytes than an entity has.
const MAX_ENTITY: usize = 40;

/// A text with decoded entities, and where they are in the text as it is.
///
/// An entity begins with `&`, ends with `;`, and is named, decimal or hexadecimal. One that was
/// encoded twice (`&amp;quot;`) is decoded twice.
#[derive(Clone, Debug, Default)]
pub struct DecodedText {
    text: Vec<u8>,
    /// The entities in the decoded text, and in the text as it is, ascending.
    entities: Vec<(Range<usize>, Range<usize>)>,
}

impl DecodedText {
    /// Decodes `text`. O(length) time and memory; no copy is made of a text without entities.
    pub fn read(&mut self, text: &[u8]) {
        self.text.clear();
        self.entities.clear();
        let mut done = 0;
        for at in memchr_iter(b'&', text) {
            let found = if at < done { None } else { entity(&text[at..]) };
            if let Some((bytes, decoded)) = found {
                self.text.extend_from_slice(&text[done..at]);
                let start = self.text.len();
                self.text.extend_from_slice(&decoded);
                done = at + bytes;
                self.entities.push((start..self.text.len(), at..done));
            }
        }
        if !self.entities.is_empty() {
            self.text.extend_from_slice(&text[done..]);
        }
    }

    /// The decoded text of `original`, the text that was read.
    pub fn text<'a>(&'a self, original: &'a [u8]) -> &'a [u8] {
        match self.entities.is_empty() {
            true => original,
            false => &self.text,
        }
    }

    /// Replaces ranges of words of the decoded text by those of the text as it is.
    pub fn place(&self, words: &mut [WordRange]) {
        if self.entities.is_empty() {
            return;
        }
        for word in words {
            let range = self.original(word.start as usize..word.end as usize);
            // Texts with ranges have less than 4 GiB.
            (word.start, word.end) = (range.start as u32, range.end as u32);
        }
    }

    /// Where a range of the decoded text is in the text as it is, with whole entities.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let entity_before = |place: usize| {
            let behind = self.entities.partition_point(|(own, _)| own.start < place);
            behind.checked_sub(1).map(|number| &self.entities[number])
        };
        let start = match entity_before(range.start + 1) {
            Some((own, original)) if range.start < own.end => original.start,
            Some((own, original)) => original.end + (range.start - own.end),
            None => range.start,
        };
        let end = match entity_before(range.end) {
            Some((own, original)) => original.end + range.end.saturating_sub(own.end),
            None => range.end,
        };
        start..end.max(start)
    }
}

/// The length and the text of the entity that `text` begins with.
fn entity(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let (bytes, once) = decoded(text)?;
    if once == b"&" {
        let behind = &text[bytes..text.len().min(bytes + MAX_ENTITY)];
        if let Some((more, twice)) = decoded(&[b"&", behind].concat()) {
            return Some((bytes + more - 1, twice));
        }
    }
    Some((bytes, once))
}

fn decoded(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let end = memchr(b';', &text[..text.len().min(MAX_ENTITY)])?;
    let name = &text[..=end];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    if !name.get(1..end)?.iter().all(is_name) {
        return None;
    }
    let decoded = unescape_bytes_in(name, Context::General);
    // Some names are decoded without their semicolon, which is left then.
    let is_whole = *decoded != *name && (!decoded.ends_with(b";") || name == b"&semi;");
    is_whole.then(|| (end + 1, decoded.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(text: &str) -> String {
        let mut decoded = DecodedText::default();
        decoded.read(text.as_bytes());
        String::from_utf8(decoded.text(text.as_bytes()).to_vec()).unwrap()
    }

    #[test]
    fn entities_are_decoded() {
        for (text, expected) in [
            ("a &amp; b &#39;c&#x27; &lt;", "a & b 'c' <"),
            ("&amp;quot;x&amp;#39; &amp;amp;amp;", "\"x' &amp;"),
            (
                "AT&T; &nosuch; & &; &ampx; &amp",
                "AT&T; &nosuch; & &; &ampx; &amp",
            ),
            ("caf&eacute;s&nbsp;&semi;", "cafés\u{a0};"),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }

    proptest! {
        /// Promise (Parts of evaluation sets): Entities are decoded, and ranges are those of the
        /// text as it is
        #[test]
        fn parts_have_their_places(
            parts in prop::collection::vec(prop::sample::select(vec![
                ("a", "a"), (" ", " "), ("&amp;", "&"), ("&#233;", "é"), ("&amp;lt;", "<"), ("é", "é"), ("&", "&"),
            ]), 0..12),
        ) {
            // Before a space, an ampersand does not begin an entity.
            let parts: Vec<(String, String)> = (parts.into_iter())
                .flat_map(|(text, own)| match text {
                    "&" | "&amp;" => vec![(text.into(), own.into()), (" ".into(), " ".into())],
                    _ => vec![(text.to_string(), own.to_string())],
                })
                .collect();
            let text: String = parts.iter().map(|(text, _)| &text[..]).collect();
            let own: String = parts.iter().map(|(_, own)| &own[..]).collect();
            let mut decoded = DecodedText::default();
            decoded.read(text.as_bytes());
            prop_assert_eq!(decoded.text(text.as_bytes()), own.as_bytes());
            let ends = |which: fn(&(String, String)) -> usize| -> Vec<usize> {
                let mut end = 0;
                let lengths = parts.iter().map(which);
                std::iter::once(0).chain(lengths.map(|length| { end += length; end })).collect()
            };
            let (here, there) = (ends(|part| part.1.len()), ends(|part| part.0.len()));
            for first in 0..parts.len() {
                for last in first + 1..=parts.len() {
                    let found = decoded.original(here[first]..here[last]);
                    prop_assert_eq!(found, there[first]..there[last]);
                }
            }
        }

        #[test]
        fn any_bytes_are_read(text in prop::collection::vec(prop::sample::select(b"&#x1;amp\xffq".to_vec()), 0..60)) {
            let mut decoded = DecodedText::default();
            decoded.read(&text);
            let length = decoded.text(&text).len();
            let whole = decoded.original(0..length);
            prop_assert!(whole.end <= text.len() && (length == 0 || whole == (0..text.len())));
        }
    }
}
