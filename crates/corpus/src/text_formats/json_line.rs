//! The fields of a JSON object on a line.
//!
//! The text is read in one pass, byte for byte. A line may have a string that is not UTF-8 or that
//! escapes half a surrogate pair; dumps contain both. Rare cases (nested fields, texts that are not
//! strings) need a second pass over the value.

use memchr::memchr;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::fmt;

use crate::document::MAX_FIELDS;
use std::ops::Range;

/// The number of fields that can be requested: text, id, URL, date, and further ones.
const FIELDS: usize = 4 + MAX_FIELDS;

/// The index of the text among the fields.
const TEXT: usize = 0;

/// The paths of the requested fields, the text first.
///
/// If an object repeats a name, its last value counts, as in most JSON libraries.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    paths: Vec<Option<Path>>,
    text_is_nested: bool,
    /// Whether the items of lists are read as a text, each on a line.
    joins_lists: bool,
}

#[derive(Clone, Debug)]
struct Path {
    /// The name in the outermost object.
    name: String,
    /// The names in the nested objects.
    rest: Vec<String>,
}

/// The JSON of each field found; that of the text only if it was not decoded.
#[derive(Clone, Copy, Default)]
pub(crate) struct JsonFields<'a> {
    raw: [Option<&'a str>; FIELDS],
    joins_lists: bool,
    text: Option<FieldText<'a>>,
}

/// A string without its quotes and escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldText<'a> {
    /// A part of the line.
    Borrowed(&'a [u8]),
    /// Decoded into the buffer.
    Buffered,
}

/// The reason why a line has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineError {
    /// The line is not a JSON object.
    Json(String),
    /// The text is missing or not a string.
    NoText(String),
}

impl Paths {
    /// Parses paths, whose names are separated by dots. Those after the first [`FIELDS`] are not
    /// searched.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = Option<&'p str>>) -> Paths {
        let parse = |path: Option<&str>| {
            let mut names = path?.split('.').map(str::to_owned);
            let name = names.next()?;
            Some(Path {
                name,
                rest: names.collect(),
            })
        };
        let paths: Vec<Option<Path>> = paths.into_iter().take(FIELDS).map(parse).collect();
        let text = paths.get(TEXT).and_then(Option::as_ref);
        Paths {
            text_is_nested: text.is_some_and(|path| !path.rest.is_empty()),
            paths,
            joins_lists: false,
        }
    }

    /// The same paths; `joins_lists` says whether lists are texts.
    pub(crate) fn joining_lists(self, joins_lists: bool) -> Paths {
        Paths {
            joins_lists,
            ..self
        }
    }

    /// The fields of a line. A text with escapes is decoded into `buffer`.
    ///
    /// O(length) time and memory.
    #[allow(clippy::result_large_err)] // The fields of an invalid line are needed too.
    pub(crate) fn find<'a>(
        &self,
        line: &'a [u8],
        buffer: &mut Vec<u8>,
    ) -> Result<JsonFields<'a>, (JsonFields<'a>, LineError)> {
        if !self.text_is_nested {
            match self.scan(line, Some(buffer)) {
                Ok(fields) if fields.text.is_some() => return Ok(fields),
                Err(error) if error.classify() != Category::Data => {
                    return Err((JsonFields::default(), LineError::Json(describe(&error))));
                }
                Ok(_) | Err(_) => {}
            }
        }
        let mut fields = match self.scan(line, None) {
            Ok(fields) => fields,
            Err(error) => return Err((JsonFields::default(), LineError::Json(describe(&error)))),
        };
        match fields.raw[TEXT] {
            Some(raw) if raw.starts_with('"') => {
                fields.text = decode(raw, buffer);
                Ok(fields)
            }
            Some(raw) if self.joins_lists && raw.starts_with('[') => {
                buffer.clear();
                match append_list(raw, buffer) {
                    Ok(()) => {
                        fields.text = Some(FieldText::Buffered);
                        Ok(fields)
                    }
                    Err(_) => {
                        let detail = "is a list of other values than strings and numbers";
                        Err((fields, LineError::NoText(detail.into())))
                    }
                }
            }
            Some(raw) => Err((fields, LineError::NoText(format!("is {}", kind(raw))))),
            None => Err((fields, LineError::NoText("is missing".into()))),
        }
    }

    /// The JSON of the text, which borrows from the line.
    pub(crate) fn raw<'a>(&self, line: &'a [u8]) -> Option<&'a str> {
        self.scan(line, None).ok()?.raw[TEXT]
    }

    /// Reads a line in one pass; without a `buffer`, the text stays JSON.
    fn scan<'a>(
        &self,
        line: &'a [u8],
        buffer: Option<&mut Vec<u8>>,
    ) -> serde_json::Result<JsonFields<'a>> {
        let mut fields = JsonFields {
            joins_lists: self.joins_lists,
            ..JsonFields::default()
        };
        let mut json = serde_json::Deserializer::from_slice(line);
        json.deserialize_map(Object {
            paths: self,
            fields: &mut fields,
            buffer,
        })?;
        json.end()?;
        for (path, raw) in self.paths.iter().zip(&mut fields.raw) {
            for name in path.iter().flat_map(|path| &path.rest) {
                *raw = raw.and_then(|object| member(object, name));
            }
        }
        Ok(fields)
    }
}

impl<'a> JsonFields<'a> {
    /// The text.
    pub(crate) fn text(&self) -> Option<FieldText<'a>> {
        self.text
    }

    /// Appends a field to `buffer`: a string without escapes, or a number as written. Returns the
    /// index in `buffer` where the field begins.
    pub(crate) fn label(&self, field: usize, buffer: &mut Vec<u8>) -> usize {
        let start = buffer.len();
        match self.raw[field] {
            Some(raw) if raw.starts_with('"') => append_string(raw, buffer),
            Some(raw) if is_number(raw) => buffer.extend_from_slice(raw.as_bytes()),
            _ => {}
        }
        start
    }

    /// Appends a string, a number, a boolean, or a list that is read as a text to `buffer`, as
    /// [`label`](Self::label) does. Returns its range in `buffer`, and its value if it is a number;
    /// `None` for other values.
    pub(crate) fn value(
        &self,
        field: usize,
        buffer: &mut Vec<u8>,
    ) -> Option<(Range<usize>, Option<f64>)> {
        let raw = self.raw[field]?;
        let number = if is_number(raw) {
            raw.parse().ok()
        } else {
            None
        };
        let start = buffer.len();
        match raw.as_bytes().first() {
            Some(b'"') => append_string(raw, buffer),
            Some(b't' | b'f') => buffer.extend_from_slice(raw.as_bytes()),
            Some(b'[') if self.joins_lists => {
                if append_list(raw, buffer).is_err() {
                    buffer.truncate(start);
                    return None;
                }
            }
            _ if number.is_some() => buffer.extend_from_slice(raw.as_bytes()),
            _ => return None,
        }
        Some((start..buffer.len(), number))
    }
}

fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn kind(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The member `name` of a value, if it is an object.
fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    if !object.starts_with('{') {
        return None;
    }
    let paths = Paths {
        paths: vec![Some(Path {
            name: name.to_owned(),
            rest: Vec::new(),
        })],
        text_is_nested: false,
        joins_lists: false,
    };
    paths.scan(object.as_bytes(), None).ok()?.raw[TEXT]
}

/// A JSON string without quotes and escapes.
fn decode<'a>(raw: &'a str, buffer: &mut Vec<u8>) -> Option<FieldText<'a>> {
    let inner = raw.get(1..raw.len().checked_sub(1)?)?.as_bytes();
    if memchr(b'\\', inner).is_none() {
        return Some(FieldText::Borrowed(inner));
    }
    buffer.clear();
    append_string(raw, buffer);
    Some(FieldText::Buffered)
}

fn append_string(raw: &str, buffer: &mut Vec<u8>) {
    let mut json = serde_json::Deserializer::from_str(raw);
    // Cannot fail: the value was parsed as a JSON string before.
    let _ = json.deserialize_bytes(Append(buffer));
}

/// Appends the strings and numbers of a list, each on a line.
///
/// # Errors
/// If the list has other values.
fn append_list(raw: &str, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::Deserializer::from_str(raw).deserialize_seq(AppendItems(buffer))
}

struct AppendItems<'b>(&'b mut Vec<u8>);

impl<'a> Visitor<'a> for AppendItems<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a list of strings and numbers")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut items: S) -> Result<(), S::Error> {
        let mut is_first = true;
        while let Some(item) = items.next_element::<&RawValue>()? {
            if !std::mem::take(&mut is_first) {
                self.0.push(b'\n');
            }
            match item.get() {
                raw if raw.starts_with('"') => append_string(raw, self.0),
                raw if is_number(raw) => self.0.extend_from_slice(raw.as_bytes()),
                _ => return Err(de::Error::custom("another value")),
            }
        }
        Ok(())
    }
}

struct Append<'b>(&'b mut Vec<u8>);

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The message of serde, with the column of the line.
fn describe(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    format!("column {}: {}", error.column(), &message[..end])
}

/// The outermost object of a line.
struct Object<'p, 'f, 'a, 'b> {
    paths: &'p Paths,
    fields: &'f mut JsonFields<'a>,
    buffer: Option<&'b mut Vec<u8>>,
}

impl<'a> Visitor<'a> for Object<'_, '_, 'a, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'a>>(mut self, mut map: M) -> Result<(), M::Error> {
        while let Some(requested) = map.next_key_seed(RequestedName(self.paths))? {
            if requested == 0 {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if requested == 1 << TEXT
                && let Some(buffer) = &mut self.buffer
            {
                self.fields.text = Some(map.next_value_seed(TextSeed(buffer))?);
                continue;
            }
            let raw = map.next_value::<&RawValue>()?.get();
            for field in (0..FIELDS).filter(|field| requested & 1 << field != 0) {
                self.fields.raw[field] = Some(raw);
            }
        }
        Ok(())
    }
}

/// The requested fields with a name, as a bit set.
struct RequestedName<'p>(&'p Paths);

impl<'a> DeserializeSeed<'a> for RequestedName<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<u32, D::Error> {
        json.deserialize_bytes(self)
    }
}

impl Visitor<'_> for RequestedName<'_> {
    type Value = u32;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<u32, E> {
        let mut requested = 0;
        for (field, path) in self.0.paths.iter().enumerate() {
            if path
                .as_ref()
                .is_some_and(|path| path.name.as_bytes() == name)
            {
                requested |= 1 << field;
            }
        }
        Ok(requested)
    }
}

struct TextSeed<'b>(&'b mut Vec<u8>);

impl<'a> DeserializeSeed<'a> for TextSeed<'_> {
    type Value = FieldText<'a>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<FieldText<'a>, D::Error> {
        json.deserialize_bytes(self)
    }
}

impl<'a> Visitor<'a> for TextSeed<'_> {
    type Value = FieldText<'a>;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'a [u8]) -> Result<FieldText<'a>, E> {
        Ok(FieldText::Borrowed(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<FieldText<'a>, E> {
        self.0.clear();
        self.0.extend_from_slice(bytes);
        Ok(FieldText::Buffered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn paths(text: &str) -> Paths {
        Paths::new([Some(text), Some("id"), Some("m.u"), None, Some("k")])
    }

    /// The text, id and nested URL, or the error.
    #[allow(clippy::type_complexity)]
    fn find(paths: &Paths, line: &[u8]) -> Result<(Vec<u8>, Vec<u8>, Vec<u8>), LineError> {
        let mut buffer = Vec::new();
        let fields = paths.find(line, &mut buffer).map_err(|(_, wrong)| wrong)?;
        let text = match fields.text().unwrap() {
            FieldText::Borrowed(text) => text.to_vec(),
            FieldText::Buffered => buffer,
        };
        let label = |field| {
            let mut label = Vec::new();
            fields.label(field, &mut label);
            label
        };
        Ok((text, label(1), label(2)))
    }

    #[test]
    fn fields_are_found() {
        let line = br#"{"m": {"u": "a\n\"b"}, "id": 12.50, "text": "t\u00e4", "k": -3}"#;
        let found = find(&paths("text"), line).unwrap();
        assert_eq!(
            found,
            ("t\u{e4}".into(), b"12.50".to_vec(), b"a\n\"b".to_vec())
        );
        let fields = paths("text").find(line, &mut Vec::new()).ok().unwrap();
        let mut values = b"x".to_vec();
        assert_eq!(fields.value(4, &mut values), Some((1..3, Some(-3.0))));
        assert_eq!(fields.value(2, &mut values), Some((3..7, None)));
        assert_eq!(fields.value(3, &mut values), None);
        assert_eq!(values, b"x-3a\n\"b");
        let found = find(&paths("a.b.c"), br#"{"a": {"b": {"c": "deep", "d": []}}}"#).unwrap();
        assert_eq!(found.0, b"deep");
    }

    #[test]
    fn lists_are_texts_where_they_are_joined() {
        let joining = paths("m.text").joining_lists(true);
        let text = |json: &str| {
            let line = format!(r#"{{"m": {{"text": {json}}}, "k": {json}}}"#);
            let mut values = Vec::new();
            if let Ok(fields) = joining.find(line.as_bytes(), &mut Vec::new()) {
                let range = fields.value(4, &mut values).map(|(range, _)| range);
                assert_eq!(range, Some(0..values.len()));
            }
            find(&joining, line.as_bytes()).map(|found| {
                assert_eq!(found.0, values);
                String::from_utf8(found.0).unwrap()
            })
        };
        assert_eq!(text(r#"["a\tb", "é", 1.50]"#).unwrap(), "a\tb\né\n1.50");
        assert_eq!(text("[]").unwrap(), "");
        assert_eq!(text(r#""a""#).unwrap(), "a");
        for other in [r#"["a", ["b"]]"#, "[null]", r#"[{"a": "b"}]"#, "[true]"] {
            assert!(matches!(text(other), Err(LineError::NoText(_))), "{other}");
        }
        let line = br#"{"text": ["a"]}"#;
        let wrong = LineError::NoText("is an array".into());
        assert_eq!(find(&paths("text"), line), Err(wrong));
    }

    #[test]
    fn one_value_may_be_two_fields() {
        let paths = Paths::new([Some("a"), Some("a"), Some("a.b"), None, None]);
        let found = find(&paths, br#"{"a": "x"}"#).unwrap();
        assert_eq!(found, (b"x".to_vec(), b"x".to_vec(), Vec::new()));
    }

    #[test]
    fn the_last_of_two_counts() {
        let text = |line: &[u8]| find(&paths("text"), line).map(|found| found.0);
        assert_eq!(text(br#"{"text": "a", "text": "b"}"#).unwrap(), b"b");
        assert_eq!(text(br#"{"text": 1, "text": "b"}"#).unwrap(), b"b");
        let wrong = LineError::NoText("is a number".into());
        assert_eq!(text(br#"{"text": "a", "text": 1}"#), Err(wrong));
    }

    #[test]
    fn strings_that_are_not_unicode_are_read() {
        let text = |line: &[u8]| find(&paths("text"), line).map(|found| found.0);
        assert_eq!(
            text(b"{\"x\": \"\xff\", \"text\": \"a\xffb\"}").unwrap(),
            b"a\xffb"
        );
        let lone = text(br#"{"text": "a\ud800b"}"#).unwrap();
        assert!(lone.starts_with(b"a") && lone.ends_with(b"b"));
    }

    fn json() -> impl Strategy<Value = Value> {
        let name = prop::sample::select(vec!["text", "id", "m", "u", "k", "x", "t\u{e4}\n"]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\\u{e4}\n\u{1f600}]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(name.clone().prop_map(str::to_owned), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn label(value: &Value) -> Vec<u8> {
        match value {
            Value::String(text) => text.as_bytes().to_vec(),
            Value::Number(number) => number.to_string().into_bytes(),
            _ => Vec::new(),
        }
    }

    proptest! {
        #[test]
        fn fields_are_those_of_the_library_s_own_tree(
            value in json(),
            path in prop::sample::select(vec!["text", "m.u", "m.m.text"]),
        ) {
            let line = value.to_string();
            let pointer = format!("/{}", path.replace('.', "/"));
            let found = find(&paths(path), line.as_bytes());
            match (value.is_object(), value.pointer(&pointer)) {
                (false, _) => prop_assert!(matches!(found, Err(LineError::Json(_)))),
                (true, Some(Value::String(text))) => {
                    let (found, id, url) = found.unwrap();
                    prop_assert_eq!(found, text.as_bytes());
                    prop_assert_eq!(id, label(&value["id"]));
                    prop_assert_eq!(url, label(&value["m"]["u"]));
                }
                _ => prop_assert!(matches!(found, Err(LineError::NoText(_)))),
            }
        }

        #[test]
        fn any_bytes_are_json_or_not_as_the_library_says(
            bytes in prop::collection::vec(prop::sample::select(&b"{}[]\"\"\\ue0,:: text1-\xff"[..]), 0..30),
        ) {
            let found = find(&paths("text"), &bytes);
            if let Ok(Value::Object(object)) = serde_json::from_slice(&bytes) {
                let text = object.get("text").and_then(Value::as_str);
                match found {
                    Ok((found, ..)) => prop_assert_eq!(Some(&*found), text.map(str::as_bytes)),
                    Err(wrong) => prop_assert!(text.is_none() && matches!(wrong, LineError::NoText(_))),
                }
            }
        }
    }
}
