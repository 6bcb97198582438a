//! Units cover the input without splitting pages, and pages match the definition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::corpus::form_feed::{Page, pages, units};

fuzz_target!(|input: (u16, &[u8])| {
    let (unit_bytes, input) = (usize::from(input.0), input.1);
    let found: Vec<Page<'_>> = pages(input).collect();
    let defined = input.split(|&byte| byte == b'\x0c').filter_map(definition);
    assert!(found.iter().copied().eq(defined));

    let units = units(input, unit_bytes);
    let mark = if input.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let mut end = mark;
    for unit in &units {
        assert!(unit.start == end && unit.end > unit.start);
        assert!(unit.len() >= unit_bytes || unit.end == input.len());
        assert!(input[unit.end - 1] == b'\x0c' || unit.end == input.len());
        end = unit.end;
    }
    assert_eq!(end, input.len());
    let of_units = units.iter().flat_map(|unit| pages(&input[unit.clone()]));
    assert!(of_units.eq(pages(&input[mark..])));
});

fn definition(chunk: &[u8]) -> Option<Page<'_>> {
    let mut behind = 0;
    for line in chunk.split_inclusive(|&byte| byte == b'\n') {
        behind += line.len();
        let id = trim(line.strip_suffix(b"\n").unwrap_or(line));
        if !id.is_empty() {
            return Some(Page {
                id,
                text: &chunk[behind..],
            });
        }
    }
    None
}

fn trim(mut line: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r', rest @ ..] | [rest @ .., b' ' | b'\t' | b'\r'] = line {
        line = rest;
    }
    line
}
