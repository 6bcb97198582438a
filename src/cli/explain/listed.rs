//! A line of `duplicates.jsonl`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use simtool::{Error, ErrorKind, Result};

/// No line that a deduplication writes is longer.
const MOST_LINE_BYTES: u64 = 16 << 20;
/// Lines between two looks at whether to go on.
const LINES: u64 = 4096;
/// So many places of an ambiguous id are told.
const MOST_LISTED: usize = 8;

/// What a deduplication said of two documents.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What found them.
    pub method: String,
    /// Bits that differ.
    pub distance: Option<u32>,
    /// What the sketches say of the similarity.
    pub estimate: Option<f64>,
    /// What the comparison of the texts gave.
    pub similarity: f64,
    /// Shared and all shingles, unless all words are the same.
    pub shingles: Option<[u32; 2]>,
    /// Where the one stands that goes.
    pub at: At,
    /// Where the one stands that stays.
    pub kept_at: At,
}

#[derive(Clone, Debug, Deserialize)]
struct Line {
    id: String,
    id_base64: Option<String>,
    method: String,
    distance: Option<u32>,
    estimate: Option<f64>,
    /// Nothing, if only an index knows the one that stays.
    similarity: Option<f64>,
    shared: Option<u32>,
    shingles: Option<u32>,
    #[serde(flatten)]
    at: At,
    /// Nothing, if no copy stays.
    kept: Option<String>,
    kept_file: Option<String>,
    kept_start: Option<u64>,
    kept_length: Option<u64>,
    kept_member: Option<u64>,
}

/// Where a document stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct At {
    /// The file, as the deduplication was given it.
    pub file: String,
    /// Where it starts in the file, or in what the member decompresses to.
    pub start: u64,
    /// Bytes, decompressed.
    pub length: u64,
    /// Offset of the compressed member in the file.
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

impl Line {
    fn is_of(&self, id: &[u8]) -> bool {
        match &self.id_base64 {
            Some(encoded) => STANDARD.decode(encoded).is_ok_and(|bytes| bytes == id),
            None => self.id.as_bytes() == id,
        }
    }

    /// Where the document stands that stays; nowhere, if only an index knows it.
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

/// The line of `list` about the document that goes by `id`; `check` says whether to go on.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is none, or more, or the document was compared with none that
/// stays; [`ErrorKind::Content`] for a line that no deduplication writes; [`ErrorKind::Read`].
pub fn listed(list: &Path, id: &[u8], check: &dyn Fn() -> Result<()>) -> Result<Listed> {
    let unreadable = |cause: io::Error| {
        let error = Error::new(ErrorKind::Read, "cannot be read");
        error.in_file(list).caused_by(cause)
    };
    let mut reader = BufReader::new(File::open(list).map_err(unreadable)?);
    let (mut line, mut number, mut found) = (Vec::new(), 0, Vec::new());
    loop {
        if number % LINES == 0 {
            check()?;
        }
        number += 1;
        line.clear();
        let mut next = reader.by_ref().take(MOST_LINE_BYTES);
        if next.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return only(found, list, id);
        }
        let read: Line = serde_json::from_slice(&line).map_err(|error| {
            let message = format!("line {number} is none of duplicates.jsonl: {error}");
            Error::new(ErrorKind::Content, message).in_file(list)
        })?;
        if read.is_of(id) && found.len() <= MOST_LISTED {
            found.push(read);
        }
    }
}

fn only(mut found: Vec<Line>, list: &Path, id: &[u8]) -> Result<Listed> {
    let shown = String::from_utf8_lossy(id);
    let refuse = |message: String| {
        let message = format!("id {shown}: {message}");
        Err(Error::new(ErrorKind::Parameter, message).in_file(list))
    };
    let Some(line) = found.pop() else {
        return refuse("no line is about it (it stays, or is not in the input)".to_owned());
    };
    if found.is_empty() {
        if line.kept.is_none() {
            return refuse("no copy of it stays: name the two documents by their ids".to_owned());
        }
        let (Some(kept_at), Some(similarity)) = (line.kept_at(), line.similarity) else {
            return refuse("it repeats a document of an index, which keeps no texts".to_owned());
        };
        return Ok(Listed {
            method: line.method,
            distance: line.distance,
            estimate: line.estimate,
            similarity,
            shingles: line
                .shared
                .zip(line.shingles)
                .map(|(shared, all)| [shared, all]),
            at: line.at,
            kept_at,
        });
    }
    found.push(line);
    let mut pairs: Vec<String> = found.iter().take(MOST_LISTED).map(Line::shown).collect();
    if found.len() > MOST_LISTED {
        pairs.push("...".to_owned());
    }
    refuse(format!(
        "several lines are about it (name two places instead): {}",
        pairs.join(", ")
    ))
}
