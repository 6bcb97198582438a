//! A check for a text field that no document has, before a run begins.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::documents::DocumentReader;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::{ChunkReader, Format, Position, Reading, Reason, Source};

/// Names of fields that a message lists, and their characters.
const MAX_NAMES: usize = 12;
const MAX_CHARACTERS: usize = 60;
/// Documents whose fields are compared with each other.
const MAX_COMPARED: usize = 100;

/// The fields of a document.
type Object = BTreeMap<String, Value>;

/// Fails if all sources are JSON Lines files, and the first documents of each lack the text field.
/// Empty sources are ignored.
///
/// Reads the start of one source after the other, up to the first that has the field.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the `setting`, the fields that the first document has, and the
/// likely one; those of reading.
pub fn check(setting: &str, sources: &[Source], reading: &Reading) -> Result<()> {
    let mut lacking: Option<(&Source, String)> = None;
    for (source, number) in sources.iter().zip(0..) {
        if source.format != Format::Jsonl || source.is_stream() {
            return Ok(());
        }
        let mut reader = ChunkReader::open(source, number, reading, Position::default())?;
        let Some(chunk) = reader.next(Vec::new())? else {
            continue;
        };
        let (mut lacks, mut has) = (false, false);
        let mut documents = DocumentReader::new(sources, reading);
        documents.documents(&chunk)?.for_each(|found| {
            match found {
                Err(skip) if skip.reason == Reason::NoText => {
                    let is_missing = skip.detail == "is missing";
                    lacks |= is_missing;
                    has |= !is_missing;
                }
                // Whether an unreadable record has the field is unknown.
                Err(_) => {}
                Ok(_) => has = true,
            }
            Ok(())
        })?;
        if has || !lacks {
            return Ok(());
        }
        lacking.get_or_insert_with(|| (source, described(setting, chunk.bytes())));
    }
    match lacking {
        None => Ok(()),
        Some((source, fields)) => {
            let message = format!(
                "{setting} {:?}: no document has it; the first one has {fields}",
                reading.text_field
            );
            Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
        }
    }
}

/// The fields of the first object among these lines, and the one that is likely meant.
fn described(setting: &str, lines: &[u8]) -> String {
    let lines = lines.split(|&byte| byte == b'\n');
    let parsed = |line| Some((serde_json::from_slice::<Object>(line).ok()?, line.len()));
    let objects = lines.filter_map(parsed).take(MAX_COMPARED);
    let (objects, lengths): (Vec<Object>, Vec<usize>) = objects.unzip();
    let names = objects.first().map(names).unwrap_or_default();
    let likely =
        likely(&objects, lengths.iter().sum()).map(|name| format!(" (try {setting} {name})"));
    match names.is_empty() {
        true => "no fields".to_owned(),
        false => names.join(", ") + &likely.unwrap_or_default(),
    }
}

fn names(object: &Object) -> Vec<String> {
    let shown = |name: &String| name.chars().take(MAX_CHARACTERS).collect::<String>();
    let mut names: Vec<String> = object.keys().take(MAX_NAMES).map(shown).collect();
    if object.len() > MAX_NAMES {
        names.push("...".to_owned());
    }
    names
}

/// The field that holds at least twice as much text as any other, and at least a tenth of `bytes`,
/// the length of the objects; unless its name is too long.
fn likely(objects: &[Object], bytes: usize) -> Option<String> {
    let mut lengths = BTreeMap::new();
    for object in objects {
        add_lengths("", object, &mut lengths);
    }
    let mut lengths: Vec<(String, usize)> = lengths.into_iter().collect();
    lengths.sort_by_key(|(_, length)| Reverse(*length));
    let next = lengths.get(1).map_or(0, |(_, length)| *length);
    let (name, most) = lengths.into_iter().next()?;
    let is_large = most >= 2 * next && 10 * most >= bytes;
    (is_large && name.chars().count() <= MAX_CHARACTERS).then_some(name)
}

/// Adds the lengths of the strings that look like text to those of their fields, by path.
fn add_lengths<'a>(
    outer: &str,
    fields: impl IntoIterator<Item = (&'a String, &'a Value)>,
    lengths: &mut BTreeMap<String, usize>,
) {
    // A path cannot name a field whose name is empty or contains a dot.
    let fields = fields.into_iter();
    for (name, value) in fields.filter(|(name, _)| !name.is_empty() && !name.contains('.')) {
        let path = format!("{outer}{name}");
        match value {
            Value::Object(inner) => add_lengths(&format!("{path}."), inner, lengths),
            Value::String(text) if text.contains(' ') || !text.is_ascii() => {
                *lengths.entry(path).or_default() += text.len();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_with_most_text_is_proposed() {
        for (lines, expected) in [
            (
                &br#"{"id": "1", "raw_content": "some words", "url": "http://a.example/a/long/one"}"#[..],
                "id, raw_content, url (try --text-field raw_content)",
            ),
            (
                b"{\"id\": \"1\"}\nbroken\n{\"doc\": {\"body\": \"some words\"}, \"title\": \"a b\"}",
                "id (try --text-field doc.body)",
            ),
            (br#"{"abstract": "three words here", "body": "four words are here"}"#, "abstract, body"),
            (br#"{"id": "1", "sha": "0123456789abcdef"}"#, "id, sha"),
            (br#"{"a.b": "some words"}"#, "a.b"),
            (b"{}", "no fields"),
        ] {
            assert_eq!(described("--text-field", lines), expected);
        }
        let many: Object = (10..40)
            .map(|name| (name.to_string(), Value::Null))
            .collect();
        let shown = names(&many);
        assert_eq!((shown.len(), shown[12].as_str()), (13, "..."));
    }
}
