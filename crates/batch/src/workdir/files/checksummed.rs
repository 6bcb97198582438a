//! Small JSON files with a checksum.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

/// The field of the checksum: xxh3-128 of the object without it, written without spaces.
const FIELD: &str = "checksum";

/// The text of an object with these fields and its checksum.
pub fn encode<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let mut fields: BTreeMap<&str, &Value> = fields.into_iter().collect();
    fields.remove(FIELD);
    let checksum = Value::from(checksum(&fields));
    fields.insert(FIELD, &checksum);
    let text = serde_json::to_string_pretty(&fields);
    // Objects of JSON values have text.
    text.unwrap_or_default() + "\n"
}

/// The object of such a text; `None` if it is damaged.
pub fn decode(text: &[u8]) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut object)) = serde_json::from_slice(text) else {
        return None;
    };
    let stored = object.remove(FIELD)?;
    (stored == checksum(&object)).then_some(object)
}

/// The fields of an object.
pub fn fields(object: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    object.iter().map(|(name, value)| (name.as_str(), value))
}

fn checksum(object: &impl Serialize) -> String {
    let mut hash = Hash(Xxh3::new());
    // Neither objects of JSON values nor the hash fail.
    let _ = serde_json::to_writer(&mut hash, object);
    format!("{:032x}", hash.0.digest128())
}

/// Hashes what is written.
struct Hash(Xxh3);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Promise (Deduplication): A damaged file of the work …
    #[test]
    fn every_change_of_the_object_is_detected() {
        let Value::Object(object) = json!({"a": [1, 2, "x\u{e9}"], "b": {"c": null}}) else {
            unreachable!()
        };
        let text = encode(fields(&object));
        assert_eq!(decode(text.as_bytes()), Some(object.clone()));
        for bit in 0..8 * text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // White space between tokens is not part of the object.
            assert!(decode(&bytes).is_none_or(|found| found == object));
        }
        for end in 0..text.trim_end().len() {
            assert_eq!(decode(&text.as_bytes()[..end]), None);
        }
        assert_eq!(decode(b"[]"), None);
        assert_eq!(decode(b"{}"), None);
    }
}
