//! Pages separated by form feeds; the first line of a page is its id.

use std::ops::Range;

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
pub fn pages(input: &[u8]) -> impl Iterator<Item = Page<'_>> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        loop {
            let piece = rest?;
            let (piece, behind) = split_once(b'\x0c', piece);
            rest = behind;
            if let Some(page) = page(piece) {
                return Some(page);
            }
        }
    })
}

fn page(piece: &[u8]) -> Option<Page<'_>> {
    let mut rest = Some(piece);
    while let Some(lines) = rest {
        let (line, behind) = split_once(b'\n', lines);
        let id = line.trim_ascii();
        if !id.is_empty() {
            return Some(Page {
                id,
                text: behind.unwrap_or(&[]),
            });
        }
        rest = behind;
    }
    None
}

/// The bytes before the first `separator` and those after it, if there is one.
fn split_once(separator: u8, bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(separator, bytes) {
        Some(place) => (&bytes[..place], Some(&bytes[place + 1..])),
        None => (bytes, None),
    }
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
        let end = memchr::memchr(b'\x0c', &input[least..]).map_or(input.len(), |at| least + at + 1);
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
