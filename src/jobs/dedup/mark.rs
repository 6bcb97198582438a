//! Marks of duplicates, in the formats that have a place for one.
//!
//! A record gets the mark of this run. Earlier marks of the same name are replaced, or removed if
//! the document is kept.

use memchr::memmem;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::corpus::Format;
use crate::corpus::web::warc;

/// The key of the mark in a JSON line.
const KEY: &str = "duplicate_of";
/// The header of the mark in a WARC record.
const HEADER: &[u8] = b"WARC-Simtool-Duplicate-Of";

/// The name of a mark, as it is written into records.
pub fn name(format: Format) -> &'static [u8] {
    match format {
        Format::Warc => HEADER,
        _ => KEY.as_bytes(),
    }
}

/// A record with a mark that names the `kept` document, or without a mark if `kept` is `None`.
/// `None` if there is no mark to remove, or no place for one.
pub fn marked(format: Format, raw: &[u8], kept: Option<&[u8]>) -> Option<Vec<u8>> {
    match format {
        Format::Jsonl => line(raw, kept),
        Format::Warc => record(raw, kept),
        _ => None,
    }
}

fn line(raw: &[u8], kept: Option<&[u8]>) -> Option<Vec<u8>> {
    let is_marked = memmem::find(raw, KEY.as_bytes()).is_some();
    let unmarked = is_marked.then(|| without_key(raw)).flatten();
    let Some(kept) = kept else {
        return unmarked;
    };
    let raw = unmarked.as_deref().unwrap_or(raw);
    let end = raw.iter().rposition(|&byte| byte == b'}');
    let (head, tail) = raw.split_at(end.unwrap_or(raw.len()));
    let mut out = head.to_vec();
    if !head.trim_ascii_end().ends_with(b"{") {
        out.push(b',');
    }
    out.extend_from_slice(format!("\"{KEY}\":").as_bytes());
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut out, &String::from_utf8_lossy(kept));
    out.extend_from_slice(tail);
    Some(out)
}

/// The line without the members named [`KEY`]; `None` if there are none.
fn without_key(raw: &[u8]) -> Option<Vec<u8>> {
    let mut members = Vec::new();
    let mut json = serde_json::Deserializer::from_slice(raw);
    json.deserialize_map(Members(&mut members)).ok()?;
    if !members.iter().any(|(is_key, _)| *is_key) {
        return None;
    }
    let mut begin = memchr::memchr(b'{', raw)? + 1;
    let mut out = raw[..begin].to_vec();
    let mut is_first = true;
    for (is_key, value) in members {
        // The value borrows from the line; a comma or the end of the object follows it.
        let value_end = value.as_ptr() as usize - raw.as_ptr() as usize + value.len();
        let end = value_end + memchr::memchr2(b',', b'}', &raw[value_end..])?;
        if !is_key {
            if !is_first {
                out.push(b',');
            }
            out.extend_from_slice(&raw[begin..end]);
            is_first = false;
        }
        begin = end + 1;
    }
    out.extend_from_slice(&raw[begin - 1..]);
    Some(out)
}

/// Collects the values of an object, each with whether its key is [`KEY`].
struct Members<'m, 'a>(&'m mut Vec<(bool, &'a str)>);

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let value: &'a RawValue = map.next_value()?;
            self.0.push((key == KEY, value.get()));
        }
        Ok(())
    }
}

fn record(raw: &[u8], kept: Option<&[u8]>) -> Option<Vec<u8>> {
    let body = warc::Head::at(raw)?.bytes;
    // Blank lines after the previous record may precede the version.
    let is_blank = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = raw.iter().position(|byte| !is_blank(byte))?;
    let mut lines = raw[start..body].split_inclusive(|&byte| byte == b'\n');
    let mut out = raw[..start].to_vec();
    out.extend_from_slice(lines.next()?);
    if let Some(kept) = kept {
        out.extend_from_slice(HEADER);
        out.extend_from_slice(b": ");
        out.extend(kept.iter().filter(|byte| !byte.is_ascii_control()));
        out.extend_from_slice(b"\r\n");
    }
    let mut is_mark = false;
    let mut has_mark = kept.is_some();
    for line in lines {
        // A line that begins with white space continues the previous one.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
            is_mark = name.trim_ascii().eq_ignore_ascii_case(HEADER);
        }
        match is_mark {
            true => has_mark = true,
            false => out.extend_from_slice(line),
        }
    }
    out.extend_from_slice(&raw[body..]);
    has_mark.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    #[test]
    fn marks_are_valid() {
        for (raw, expected) in [
            (
                &b"{\"a\":1}\n"[..],
                &b"{\"a\":1,\"duplicate_of\":\"x\\\"y\"}\n"[..],
            ),
            (b"{ }\r\n", b"{ \"duplicate_of\":\"x\\\"y\"}\r\n"),
        ] {
            let out = marked(Format::Jsonl, raw, Some(b"x\"y")).unwrap();
            assert_eq!(out, expected);
            let value: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value["duplicate_of"], "x\"y");
            assert_eq!(marked(Format::Jsonl, raw, None), None);
        }
    }

    #[test]
    fn a_mark_follows_the_version_line() {
        let head = b"WARC/1.0\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        let expected =
            b"WARC/1.0\r\nWARC-Simtool-Duplicate-Of: id\r\nA: b\r\nContent-Length: 0\r\n\r\n";
        for before in [&b""[..], b"\r\n\r\n", b"\n"] {
            let raw = [before, head, b"\r\n\r\n"].concat();
            let out = marked(Format::Warc, &raw, Some(b"id\n")).unwrap();
            assert_eq!(out, [before, expected, b"\r\n\r\n"].concat());
            assert_eq!(marked(Format::Warc, &raw, None), None);
            // Marked again, and unmarked.
            assert_eq!(marked(Format::Warc, &out, Some(b"id")), Some(out.clone()));
            assert_eq!(marked(Format::Warc, &out, None), Some(raw));
        }
        let folded = b"WARC/1.0\r\nwarc-simtool-duplicate-of :\r\n x\r\nContent-Length: 0\r\n\r\n";
        let out = marked(Format::Warc, folded, None).unwrap();
        assert_eq!(out, b"WARC/1.0\r\nContent-Length: 0\r\n\r\n");
    }

    #[test]
    fn only_keys_of_the_line_itself_are_marks() {
        for raw in [
            &b"{\"a\":{\"duplicate_of\":1},\"b\":\"duplicate_of\"}"[..],
            b"{\"duplicate_of\": broken",
        ] {
            assert_eq!(marked(Format::Jsonl, raw, None), None);
        }
    }

    proptest! {
        /// Compared with a JSON map.
        #[test]
        fn members_that_are_marks_are_removed(
            members in prop::collection::vec(
                (prop_oneof![Just("duplicate_of"), Just("a"), Just("b")], 0..3u8),
                0..6,
            ),
            space in prop::sample::select(vec!["", " "]),
        ) {
            let value = |kind: u8| ["{\"duplicate_of\":[1,2]}", "\"},\"", "null"][kind as usize];
            let member = |(key, kind): &(&str, u8)| {
                format!("{space}\"{key}\"{space}:{space}{}{space}", value(*kind))
            };
            let all: Vec<String> = members.iter().map(member).collect();
            let raw = format!("{{{}}}\n", all.join(","));
            let mut expected: Map<String, Value> = serde_json::from_str(&raw).unwrap();
            let had = expected.remove("duplicate_of").is_some();
            let unmarked = marked(Format::Jsonl, raw.as_bytes(), None);
            prop_assert_eq!(unmarked.is_some(), had);
            let found = unmarked.unwrap_or_else(|| raw.clone().into_bytes());
            prop_assert_eq!(&serde_json::from_slice::<Map<String, Value>>(&found).unwrap(), &expected);
            prop_assert!(!String::from_utf8(found).unwrap().contains("\"duplicate_of\":null"));
            let once = marked(Format::Jsonl, raw.as_bytes(), Some(b"x")).unwrap();
            expected.insert("duplicate_of".into(), "x".into());
            prop_assert_eq!(&serde_json::from_slice::<Map<String, Value>>(&once).unwrap(), &expected);
            prop_assert_eq!(marked(Format::Jsonl, &once, Some(b"x")), Some(once.clone()));
        }
    }
}
