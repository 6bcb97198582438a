//! What an index says of a document, as JSON: for files and for those who ask over a network.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::json_lines::At;
use crate::sketch::{Score, content_seen};

/// A known document that is near.
///
/// An id that is not UTF-8 is shown with replacement characters, and beside it stands `id_base64`
/// with its bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Near {
    /// Its id.
    pub id: String,
    /// The bytes of an id that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_base64: Option<String>,
    /// How near it is.
    #[serde(flatten)]
    pub nearness: Nearness,
}

/// How near two documents are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Nearness {
    /// Bits that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// Numerator and denominator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<[u64; 2]>,
    /// The share of bits that agree, of a method that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
}

/// What is said of a document of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line<'a> {
    /// Its id, or its place.
    pub id: Cow<'a, str>,
    /// The bytes of an id that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_base64: Option<String>,
    /// Where it stands.
    pub at: At<'a>,
    /// What the index knew.
    pub verdict: &'static str,
    /// How far it is from the known document of its id, if it has changed.
    #[serde(flatten)]
    pub changed: Option<Nearness>,
    /// The nearest known documents.
    pub matches: Vec<Near>,
}

impl Nearness {
    /// That of a score; `likeness` is for the method that speaks of it.
    pub fn new(score: Score, likeness: bool) -> Nearness {
        match score {
            Score::Distance(bits) => Nearness {
                distance: Some(bits),
                similarity: None,
                likeness: likeness.then(|| content_seen::likeness(bits)),
            },
            Score::Fraction(part, whole) => Nearness {
                distance: None,
                similarity: Some([part, whole]),
                likeness: None,
            },
        }
    }
}

impl Near {
    /// The document called `id`.
    pub fn new(id: &[u8], score: Score, likeness: bool) -> Near {
        Near {
            id: String::from_utf8_lossy(id).into_owned(),
            id_base64: base64_if_needed(id),
            nearness: Nearness::new(score, likeness),
        }
    }
}

impl Line<'_> {
    /// Appends the line.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, self);
        out.push(b'\n');
    }
}

/// The bytes of an id that JSON cannot show.
pub fn base64_if_needed(id: &[u8]) -> Option<String> {
    std::str::from_utf8(id)
        .is_err()
        .then(|| STANDARD.encode(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_have_the_fields_that_others_rely_on() {
        let at = At {
            file: "a.jsonl",
            offset: 1,
            length: 2,
            member: None,
        };
        let mut line = Line {
            id: "x".into(),
            id_base64: None,
            at,
            verdict: "changed",
            changed: Some(Nearness::new(Score::Distance(8), true)),
            matches: vec![Near::new(b"\xff", Score::Fraction(1, 2), true)],
        };
        let mut out = Vec::new();
        line.write(&mut out);
        line.changed = None;
        line.matches.clear();
        line.write(&mut out);
        let lines: Vec<serde_json::Value> = out
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let at = json!({"file": "a.jsonl", "offset": 1, "length": 2});
        let near = json!({"id": "\u{fffd}", "id_base64": "/w==", "similarity": [1, 2]});
        let first = json!({"id": "x", "at": at, "verdict": "changed", "distance": 8,
            "likeness": 0.75, "matches": [near]});
        assert_eq!(lines[0], first);
        let second = json!({"id": "x", "at": at, "verdict": "changed", "matches": []});
        assert_eq!(lines[1], second);
    }
}
