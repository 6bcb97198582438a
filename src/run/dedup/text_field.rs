//! A text field that no document has is noticed before anything is done.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::corpus::{ChunkReader, Format, Parsed, Parser, Position, Reading, Reason, Source};
use crate::{Error, ErrorKind, Result};

/// Names of fields that a message lists, and their characters.
const MOST_NAMES: usize = 20;
const MOST_CHARACTERS: usize = 60;

/// Fails if all sources are JSON Lines, and the first documents of each lack the text field.
///
/// Reads the start of one source after the other, up to the first that has the field.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the fields that the first document has; those of reading.
pub fn check(sources: &[Source], reading: &Reading) -> Result<()> {
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
        let visit = &mut |_, parsed: Parsed<'_>| match parsed {
            Parsed::Skipped(skip) if skip.reason == Reason::NoText => {
                let is_missing = skip.detail == "is missing";
                lacks |= is_missing;
                has |= !is_missing;
            }
            // What cannot be read says nothing.
            Parsed::Skipped(_) | Parsed::Unwanted => {}
            Parsed::Document(_) => has = true,
        };
        Parser::new(reading).for_each(source.format, &chunk, &|_| true, visit);
        if has || !lacks {
            return Ok(());
        }
        lacking.get_or_insert_with(|| (source, fields(chunk.bytes())));
    }
    match lacking {
        None => Ok(()),
        Some((source, fields)) => {
            let message = format!(
                "no document has the field {:?} for the text; the first one has {fields}",
                reading.text_field
            );
            Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
        }
    }
}

/// The names of the fields of the first object among these lines.
fn fields(lines: &[u8]) -> String {
    let object = lines
        .split(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line).ok())
        .unwrap_or_default();
    let shown = |name: &String| name.chars().take(MOST_CHARACTERS).collect::<String>();
    let mut names: Vec<String> = object.keys().take(MOST_NAMES).map(shown).collect();
    if object.len() > MOST_NAMES {
        names.push("...".to_owned());
    }
    match names.is_empty() {
        true => "no fields".to_owned(),
        false => names.join(", "),
    }
}
