//! Pages separated by form feeds; the first line of a page is its id.

use std::ops::Range;

/// The byte that ends a page.
pub const FORM_FEED: u8 = b'\x0c';

/// A page: its id and text, both unchanged bytes of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The first line that is not blank, without spaces, tabs and carriage returns around it.
    pub id: &'a [u8],
    /// The bytes after the line of the id.
    pub text: &'a [u8],
}

/// The pages of an input or of a [unit](units) of it, in order.
///
/// Every form feed ends a page. Blank lines before the id are skipped; if all lines are blank, there
/// is no page. O(length) time, no allocation.
pub fn pages(mut input: &[u8]) -> impl Iterator<Item = Page<'_>> {
    std::iter::from_fn(move || {
        let (id, rest) = first_page(input)?;
        let text_bytes = memchr::memchr(FORM_FEED, rest).unwrap_or(rest.len());
        input = behind(rest, text_bytes);
        Some(Page {
            id,
            text: &rest[..text_bytes],
        })
    })
}

/// The id of the first page of an input, and the rest of the input from the start of its text. The
/// text ends before the first form feed of that rest.
///
/// O(bytes before the text) time.
pub fn first_page(mut input: &[u8]) -> Option<(&[u8], &[u8])> {
    while !input.is_empty() {
        let line_bytes = memchr::memchr2(b'\n', FORM_FEED, input).unwrap_or(input.len());
        let (line, rest) = input.split_at(line_bytes);
        let id = line.trim_ascii();
        if !id.is_empty() {
            return Some((id, rest.strip_prefix(b"\n").unwrap_or(rest)));
        }
        input = behind(input, line_bytes);
    }
    None
}

/// The bytes of `input` after the one at `place`.
pub fn behind(input: &[u8], place: usize) -> &[u8] {
    input.get(place + 1..).unwrap_or_default()
}

/// Cuts an input after form feeds, into units of at least `unit_bytes` except the last.
///
/// The pages of the units, in order, are the pages of the input. A page longer than `unit_bytes`
/// makes a longer unit. A UTF-8 byte-order mark at the start is in no unit. Borders depend only on
/// the arguments. Reads only the bytes around each border; at most all bytes once.
pub fn units(input: &[u8], unit_bytes: usize) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut start = if input.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    while start < input.len() {
        let least = start.saturating_add(unit_bytes.max(1) - 1).min(input.len());
        let end =
            memchr::memchr(FORM_FEED, &input[least..]).map_or(input.len(), |at| least + at + 1);
        units.push(start..end);
        start = end;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(input: &[u8]) -> Vec<&[u8]> {
        pages(input).map(|page| page.id).collect()
    }

    #[test]
    fn ids_and_texts() {
        let found: Vec<_> = pages(b"\r\n \t\n  first page \r\nits text\n\x0csecond").collect();
        let first = Page {
            id: b"first page",
            text: b"its text\n",
        };
        assert_eq!(
            found,
            [
                first,
                Page {
                    id: b"second",
                    text: b""
                }
            ]
        );
    }

    #[test]
    fn pieces_without_an_id_are_no_pages() {
        assert!(ids(b"").is_empty());
        assert!(ids(b"\x0c\n \r\n\x0c\x0c").is_empty());
        assert_eq!(ids(b"\na\nx\n\x0c\n\x0c\x0cb\n\x0c"), [b"a", b"b"]);
    }

    #[test]
    fn a_form_feed_ends_a_page_within_a_line() {
        assert_eq!(ids(b"a b\x0cc\nd\x0ce"), [&b"a b"[..], b"c", b"e"]);
    }

    #[test]
    fn the_text_of_the_first_page_begins_after_its_id() {
        let none: Option<(&[u8], &[u8])> = None;
        assert_eq!(first_page(b" \n\x0c\r\n\x0c"), none);
        let expect = |input: &'static [u8], rest: &[u8]| {
            assert_eq!(first_page(input), Some((&b"id"[..], rest)));
        };
        expect(b"\n\x0c id \r\ntext\n\x0cnext", b"text\n\x0cnext");
        expect(b"id\x0cnext", b"\x0cnext");
        expect(b"id\n\x0cnext", b"\x0cnext");
        expect(b"id", b"");
    }

    #[test]
    fn other_bytes_in_ids_are_kept() {
        assert_eq!(ids(b"\x00\xff \x0b\n"), [b"\x00\xff \x0b"]);
    }

    #[test]
    fn byte_order_mark_belongs_to_no_unit() {
        let unit = 3..6;
        assert_eq!(units(b"\xef\xbb\xbfid\n", 1 << 20), [unit]);
        assert!(units(b"\xef\xbb\xbf", 1).is_empty());
    }

    proptest! {
        #[test]
        fn units_keep_every_page(
            input in prop::collection::vec(prop::sample::select(&b"ab \r\n\n\x0c\x0c"[..]), 0..200),
            unit_bytes in 0usize..50,
        ) {
            let units = units(&input, unit_bytes);
            let by_unit: Vec<_> = units.iter().flat_map(|unit| pages(&input[unit.clone()])).collect();
            prop_assert_eq!(by_unit, pages(&input).collect::<Vec<_>>());
            for unit in units.iter().rev().skip(1) {
                prop_assert!(unit.len() >= unit_bytes);
            }
        }
    }
}
