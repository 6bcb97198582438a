//! Small JSON files with a checksum.

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

/// The field of the checksum: xxh3-128 of the object without it, written without spaces.
const FIELD: &str = "checksum";

/// The text of `object` with its checksum.
pub fn encode(mut object: Map<String, Value>) -> String {
    object.remove(FIELD);
    let checksum = checksum(&object);
    object.insert(FIELD.into(), checksum.into());
    format!("{:#}\n", Value::Object(object))
}

/// The object of such a text; `None` if it is damaged.
pub fn decode(text: &[u8]) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut object)) = serde_json::from_slice(text) else {
        return None;
    };
    let stored = object.remove(FIELD)?;
    (stored == checksum(&object)).then_some(object)
}

fn checksum(object: &Map<String, Value>) -> String {
    let text = Value::Object(object.clone()).to_string();
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_change_of_the_object_is_detected() {
        let Value::Object(object) = json!({"a": [1, 2, "x\u{e9}"], "b": {"c": null}}) else {
            unreachable!()
        };
        let text = encode(object.clone());
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
