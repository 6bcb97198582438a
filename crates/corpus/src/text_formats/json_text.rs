//! Lines of JSON: with another text, and member by member.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

use super::json_line::{FieldText, Paths};

/// The line with `text` as the value of the field `path`, whose names are separated by dots. The
/// rest of the line stays byte for byte; bytes that are not UTF-8 become U+FFFD, as when the line is
/// read. `None` if the line is no object with this field.
///
/// O(length) time and memory.
pub fn with_text(line: &[u8], path: &str, text: &[u8]) -> Option<Vec<u8>> {
    let mended = String::from_utf8_lossy(line);
    let line = mended.as_bytes();
    let raw = Paths::new([Some(path)]).raw(line)?;
    // The value borrows from the line.
    let start = (raw.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let mut out = line.get(..start)?.to_vec();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut out, &String::from_utf8_lossy(text));
    out.extend_from_slice(line.get(start + raw.len()..)?);
    Some(out)
}

/// The text of the field `path` of a line, as it is read; `None` if there is none. Bytes and halves of
/// surrogate pairs that are not Unicode become U+FFFD.
///
/// O(length) time and memory.
pub fn text(line: &[u8], path: &str) -> Option<String> {
    let mut buffer = Vec::new();
    let fields = Paths::new([Some(path)]).find(line, &mut buffer).ok()?;
    let text = match fields.text()? {
        FieldText::Borrowed(text) => text,
        FieldText::Buffered => &buffer,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The members of the object on a line, in order: the decoded name, and the value as it is written.
/// Half surrogate pairs in names become U+FFFD. `None` if the line is no object.
///
/// O(length) time and memory.
pub fn members(line: &str) -> Option<Vec<(String, &str)>> {
    let mut members = Vec::new();
    let mut json = serde_json::Deserializer::from_str(line);
    json.deserialize_map(MembersVisitor(&mut members)).ok()?;
    json.end().ok()?;
    Some(members)
}

/// Collects the members of an object.
struct MembersVisitor<'m, 'a>(&'m mut Vec<(String, &'a str)>);

impl<'a> Visitor<'a> for MembersVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key_seed(NameVisitor)? {
            self.0.push((name, map.next_value::<&RawValue>()?.get()));
        }
        Ok(())
    }
}

/// A name, read as bytes.
struct NameVisitor;

impl<'a> DeserializeSeed<'a> for NameVisitor {
    type Value = String;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<String, D::Error> {
        json.deserialize_bytes(self)
    }
}

impl Visitor<'_> for NameVisitor {
    type Value = String;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_order_and_as_they_are_written() {
        let line = " {\"a\\u0062\": 1.50 ,\"x\":[1 ,{\"y\":2}],\"\":null,\"x\":\"\\ud800\",\"\\ud800\":0} ";
        let found = members(line).unwrap();
        let expected = [
            ("ab", "1.50"),
            ("x", "[1 ,{\"y\":2}]"),
            ("", "null"),
            ("x", "\"\\ud800\""),
        ];
        let found: Vec<(&str, &str)> = found.iter().map(|(name, raw)| (&name[..], *raw)).collect();
        assert_eq!(found[..4], expected);
        assert!(found[4].0.contains('\u{fffd}') && found[4].1 == "0");
        assert_eq!(members("{}"), Some(Vec::new()));
        for line in ["", "[]", "{\"a\":}", "{} x"] {
            assert_eq!(members(line), None);
        }
    }

    /// Promise (Repeated units): Every format has the same units, and documents … (other fields of
    /// a line stay byte for byte)
    #[test]
    fn only_the_text_changes() {
        for (line, path, expected) in [
            (
                "{\"id\": 1, \"text\" : \"a\\nb\" , \"x\":[1 ,2]}\r\n",
                "text",
                "{\"id\": 1, \"text\" : \"\\\"é\\n\" , \"x\":[1 ,2]}\r\n",
            ),
            (
                "{\"a\":{\"text\":\"x\",\"b\":\"y\"}}",
                "a.text",
                "{\"a\":{\"text\":\"\\\"é\\n\",\"b\":\"y\"}}",
            ),
            // The last value counts.
            (
                "{\"text\":\"x\",\"text\":\"y\"}",
                "text",
                "{\"text\":\"x\",\"text\":\"\\\"é\\n\"}",
            ),
        ] {
            let changed = with_text(line.as_bytes(), path, "\"é\n".as_bytes()).unwrap();
            assert_eq!(String::from_utf8(changed).unwrap(), expected);
        }
        let changed = with_text(b"{\"a\":\"\xff\",\"text\":\"\\ud800\"}", "text", b"b").unwrap();
        assert_eq!(changed, "{\"a\":\"\u{fffd}\",\"text\":\"b\"}".as_bytes());
        for line in [&b"{}"[..], b"[]", b"{\"text\":", b""] {
            assert_eq!(with_text(line, "text", b""), None);
        }
    }
}
