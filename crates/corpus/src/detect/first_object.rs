//! The first JSON object of a file.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// What the first bytes of a file show of the JSON object with which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstObject {
    /// Whether it has the field.
    pub(super) has_field: bool,
    /// Whether nothing but white space follows it in these bytes, or they end within it.
    pub(super) is_alone: bool,
}

impl FirstObject {
    /// The object at the start of `bytes`, which may end within it; `None` if they are not JSON.
    ///
    /// A dot in the name of the field separates the names of nested objects. Values are no fields,
    /// nor are the names in objects that the field does not lead to.
    ///
    /// O(length of the object) time.
    pub(super) fn of(bytes: &[u8], field: &str) -> Option<FirstObject> {
        let mut has_field = false;
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let names = Names {
            path: field,
            is_found: &mut has_field,
        };
        let is_alone = match names.deserialize(&mut json) {
            Ok(()) => json.end().is_ok(),
            Err(error) if error.is_eof() => true,
            Err(_) => return None,
        };
        Some(FirstObject {
            has_field,
            is_alone,
        })
    }
}

/// Looks for the field `path` in an object; other values have no fields.
struct Names<'p, 'f> {
    path: &'p str,
    is_found: &'f mut bool,
}

impl<'a> DeserializeSeed<'a> for Names<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Names<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut members: M) -> Result<(), M::Error> {
        let (first, rest) = match self.path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (self.path, None),
        };
        while let Some(is_first) = members.next_key_seed(IsName(first))? {
            match (is_first, rest) {
                (true, Some(path)) => members.next_value_seed(Names {
                    path,
                    is_found: self.is_found,
                })?,
                (true, None) => {
                    *self.is_found = true;
                    members.next_value::<IgnoredAny>()?;
                }
                (false, _) => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<S: serde::de::SeqAccess<'a>>(self, items: S) -> Result<(), S::Error> {
        IgnoredAny.visit_seq(items).map(drop)
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Whether a name is this one. It need not be UTF-8.
struct IsName<'p>(&'p str);

impl<'a> DeserializeSeed<'a> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<bool, E> {
        Ok(name == self.0.as_bytes())
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Deduplication): A field is a name in …
    #[test]
    fn fields_are_names_of_the_outermost_object() {
        for (bytes, has_field, is_alone) in [
            (r#"{"text": "a"}"#, true, true),
            (r#"{"a": {"b": [1, {"c": "x"}]}, "text": null}"#, true, true),
            ("{\"text\": 1}\n{\"other\": 1}\n", true, false),
            ("{\"other\": 1}\n{\"text\": 1}\n", false, false),
            (r#"{"names": ["text"], "name": "text"}"#, false, true),
            (r#"{"a": {"text": "nested"}}"#, false, true),
            (r#"{"a": [{"text": "nested"}]}"#, false, true),
            (r#"{"a": "\"text\": 1"}"#, false, true),
            (r#"{"a": "cut o"#, false, true),
            (r#"{"text": "cut o"#, true, true),
            (r#"{"te\u0078t": 1"#, true, true),
            ("{}", false, true),
        ] {
            let expected = FirstObject {
                has_field,
                is_alone,
            };
            let found = FirstObject::of(bytes.as_bytes(), "text");
            assert_eq!(found, Some(expected), "{bytes}");
        }
        let not_utf_8 = [&b"{\"\xff\": \"\xff\", \"text\": 1}"[..], b"\n{"].concat();
        assert!(FirstObject::of(&not_utf_8, "text").is_some_and(|found| found.has_field));
        for bytes in ["{\"text\": bad}", "{x", "{\"a\": \"line\nbreak\"}"] {
            assert_eq!(FirstObject::of(bytes.as_bytes(), "text"), None, "{bytes}");
        }
    }

    #[test]
    fn dots_lead_into_nested_objects() {
        let has = |text: &str, field: &str| {
            FirstObject::of(text.as_bytes(), field).map(|found| found.has_field)
        };
        let nested = r#"{"b": 1, "a": {"x": 1, "b": {"c": "deep"}}, "d": 1}"#;
        for (field, expected) in [
            ("a", true),
            ("a.b", true),
            ("a.b.c", true),
            ("b.c", false),
            ("c", false),
            ("a.c", false),
            ("a.b.c.d", false),
        ] {
            assert_eq!(has(nested, field), Some(expected), "{field}");
        }
        assert_eq!(has(r#"{"a": ["b"], "c": "a.b"}"#, "a.b"), Some(false));
    }
}
