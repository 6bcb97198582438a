//! The line of `duplicates.jsonl` or `refused.jsonl` about two documents.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use simtool::{Error, ErrorKind, Result};

/// The most bytes of a line that are read.
const MAX_LINE_BYTES: u64 = 16 << 20;
/// Lines between two checks for interruption.
const LINES: u64 = 4096;
/// The most places of an ambiguous id that a message lists.
const MAX_LISTED: usize = 8;

/// The result of a deduplication for two documents.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The rule that found them.
    pub method: String,
    /// The number of different bits.
    pub distance: Option<u32>,
    /// The estimated similarity of the sketches.
    pub estimate: Option<f64>,
    /// The exact similarity of the texts; `None` if the documents were found by URL.
    pub similarity: Option<f64>,
    /// Shared and all shingles; `None` if all words are the same.
    pub shingles: Option<[u32; 2]>,
    /// The place of the dropped document.
    pub at: At,
    /// The place of the kept document.
    pub kept_at: At,
}

#[derive(Clone, Debug, Deserialize)]
struct PairLine {
    id: String,
    id_base64: Option<String>,
    method: String,
    distance: Option<u32>,
    estimate: Option<f64>,
    /// Missing if the texts were not compared.
    similarity: Option<f64>,
    shared: Option<u32>,
    shingles: Option<u32>,
    #[serde(flatten)]
    at: At,
    /// Missing if no copy is kept.
    kept: Option<String>,
    kept_file: Option<String>,
    kept_start: Option<u64>,
    kept_length: Option<u64>,
    kept_member: Option<u64>,
}

/// The place of a document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct At {
    /// The file as the deduplication named it.
    pub file: String,
    /// The start in the file, or in the decompressed member.
    pub start: u64,
    /// Decompressed bytes.
    pub length: u64,
    /// The offset of the compressed member in the file.
    pub member: Option<u64>,
}

impl At {
    fn shown(&self) -> String {
        match self.member {
            Some(member) => format!("{}:{member}+{}", self.file, self.start),
            None => format!("{}:{}", self.file, self.start),
        }
    }
}

/// Whether the id of a line, which is also in `encoded` if it is not UTF-8, is `id`.
pub fn is_id(text: &str, encoded: Option<&str>, id: &[u8]) -> bool {
    match encoded {
        Some(encoded) => STANDARD.decode(encoded).is_ok_and(|bytes| bytes == id),
        None => text.as_bytes() == id,
    }
}

impl PairLine {
    fn is_of(&self, id: &[u8]) -> bool {
        is_id(&self.id, self.id_base64.as_deref(), id)
    }

    /// The place of the kept document; `None` if only an index knows it.
    fn kept_at(&self) -> Option<At> {
        Some(At {
            file: self.kept_file.clone()?,
            start: self.kept_start?,
            length: self.kept_length?,
            member: self.kept_member,
        })
    }

    fn shown(&self) -> String {
        let kept_at = self.kept_at();
        format!(
            "{} {}",
            self.at.shown(),
            kept_at.map_or_else(String::new, |at| at.shown())
        )
    }
}

/// The line of `list` about the dropped document `id`; `check` may stop the search.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is no such line, or several, or one without a kept document;
/// [`ErrorKind::Content`] for a malformed line; [`ErrorKind::Read`].
pub fn listed(list: &Path, id: &[u8], check: &dyn Fn() -> Result<()>) -> Result<Listed> {
    let found = lines_about(
        list,
        "duplicates.jsonl",
        |line: &PairLine| line.is_of(id),
        check,
    )?;
    only(found, list, id)
}

/// The lines of a report `kind` that are wanted, at most one more than are listed.
///
/// # Errors
/// [`ErrorKind::Content`] for a malformed line; [`ErrorKind::Read`]; those of `check`.
pub fn lines_about<L: DeserializeOwned>(
    list: &Path,
    kind: &str,
    is_wanted: impl Fn(&L) -> bool,
    check: &dyn Fn() -> Result<()>,
) -> Result<Vec<L>> {
    let unreadable = |cause: io::Error| Error::unreadable(list, cause);
    let mut reader = BufReader::new(File::open(list).map_err(unreadable)?);
    let (mut line, mut number, mut found) = (Vec::new(), 0, Vec::new());
    loop {
        if number % LINES == 0 {
            check()?;
        }
        number += 1;
        line.clear();
        let mut next = reader.by_ref().take(MAX_LINE_BYTES);
        if next.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(found);
        }
        let read: L = serde_json::from_slice(&line).map_err(|error| {
            let message = format!("line {number} is not one of {kind}: {error}");
            Error::new(ErrorKind::Content, message).in_file(list)
        })?;
        if is_wanted(&read) && found.len() <= MAX_LISTED {
            found.push(read);
        }
    }
}

fn only(mut found: Vec<PairLine>, list: &Path, id: &[u8]) -> Result<Listed> {
    let shown = String::from_utf8_lossy(id);
    let refuse = |message: String| {
        let message = format!("id {shown}: {message}");
        Err(Error::new(ErrorKind::Parameter, message).in_file(list))
    };
    let Some(line) = found.pop() else {
        return refuse("no line is about it (it was kept, or is not in the input)".to_owned());
    };
    if found.is_empty() {
        if line.kept.is_none() {
            return refuse(
                "no copy of it was kept: name the two documents by their ids".to_owned(),
            );
        }
        let Some(kept_at) = line.kept_at() else {
            return refuse("it repeats a document of an index, which stores no texts".to_owned());
        };
        return Ok(Listed {
            method: line.method,
            distance: line.distance,
            estimate: line.estimate,
            similarity: line.similarity,
            shingles: line
                .shared
                .zip(line.shingles)
                .map(|(shared, all)| [shared, all]),
            at: line.at,
            kept_at,
        });
    }
    found.push(line);
    let mut pairs: Vec<String> = found.iter().take(MAX_LISTED).map(PairLine::shown).collect();
    if found.len() > MAX_LISTED {
        pairs.push("...".to_owned());
    }
    refuse(format!(
        "several lines are about it (name two places instead): {}",
        pairs.join(", ")
    ))
}
