//! A range that a document has in common with a reference item, or with text that stays.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use simtool::corpus::Reading;
use simtool::io::regular_contents;
use simtool::jobs::explain::{FoundDocument, Lookup};
use simtool::{Error, ErrorKind, Result};

use super::listed::{At, is_id, lines_about};
use super::place::{self, TEXT_FIELD};

/// A line of `spans.jsonl`.
#[derive(Deserialize)]
struct SpansLine {
    id: String,
    id_base64: Option<String>,
    #[serde(flatten)]
    at: At,
    ranges: Vec<Span>,
}

/// A range of a text.
#[derive(Deserialize)]
struct Span {
    start: usize,
    end: usize,
    /// The place in an item.
    reference: Option<Other>,
    /// The place that stays.
    kept_at: Option<Other>,
}

/// The text that a range repeats.
#[derive(Deserialize)]
struct Other {
    #[serde(flatten)]
    at: At,
    text_start: usize,
    text_end: usize,
}

/// How a run read its documents, and those that it compared with.
struct Readings {
    own: Reading,
    reference: Reading,
}

/// The text of a range, with number `number` of those of the document `id` in the report `list`, and
/// the text that it repeats: of a reference, the whole item.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is no such range, or if it states no place; [`ErrorKind::Content`]
/// if a report is malformed; those of finding and reading the documents.
pub fn pair(
    list: &Path,
    id: &[u8],
    number: usize,
    lookup: &Lookup<'_>,
) -> Result<[FoundDocument; 2]> {
    let is_own = |line: &SpansLine| is_id(&line.id, line.id_base64.as_deref(), id);
    let lines = lines_about(list, "spans.jsonl", is_own, &|| lookup.progress.check())?;
    let shown = String::from_utf8_lossy(id);
    let refuse = |message: String| {
        let message = format!("id {shown}: {message}");
        Err(Error::new(ErrorKind::Parameter, message).in_file(list))
    };
    let line = match lines.as_slice() {
        [] => return refuse("no line is about it".to_owned()),
        [line] => line,
        _ => return refuse("several lines are about it".to_owned()),
    };
    let Some(span) = line.ranges.get(number - 1) else {
        return refuse(format!("it has {} ranges", line.ranges.len()));
    };
    let readings = readings(list)?;
    let with = |reading| Lookup { reading, ..*lookup };
    let document = place::listed(list, &line.at, &with(&readings.own), TEXT_FIELD)?;
    let document = part(document, span.start..span.end)?;
    let other = match (&span.reference, &span.kept_at) {
        (Some(item), _) => {
            let lookup = with(&readings.reference);
            place::listed(list, &item.at, &lookup, "--reference-field")?
        }
        (None, Some(kept)) => {
            let found = place::listed(list, &kept.at, &with(&readings.own), TEXT_FIELD)?;
            part(found, kept.text_start..kept.text_end)?
        }
        (None, None) => return refuse("the range states no other text".to_owned()),
    };
    Ok([document, other])
}

/// The document with only these bytes of its text.
fn part(document: FoundDocument, bytes: Range<usize>) -> Result<FoundDocument> {
    let Some(text) = document.text.get(bytes) else {
        let message = "changed since: its text is shorter";
        return Err(Error::new(ErrorKind::Changed, message).in_file(&document.file));
    };
    Ok(FoundDocument {
        text: text.to_vec(),
        ..document
    })
}

/// How the run read that made a report: by the summary beside it.
fn readings(list: &Path) -> Result<Readings> {
    let path = list.with_file_name("summary.json");
    let text = regular_contents(&path).map_err(|cause| Error::unreadable(&path, cause))?;
    let summary: Value = serde_json::from_slice(&text).unwrap_or_default();
    let settings = &summary["settings"];
    let reading = |value: &Value| serde_json::from_value::<Reading>(value.clone()).ok();
    let own = reading(&settings["reading"]);
    let reference = match &settings["reference_reading"] {
        Value::Null => own.clone(),
        value => reading(value),
    };
    match (own, reference) {
        (Some(own), Some(reference)) => Ok(Readings { own, reference }),
        _ => {
            let message = "does not say how documents were read: it is not the summary of spans or \
                           decontaminate";
            Err(Error::new(ErrorKind::Content, message).in_file(&path))
        }
    }
}
