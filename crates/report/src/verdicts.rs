//! Verdicts of an index on documents as JSON, for files and for the service.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};

use super::location::At;
pub use super::location::base64_if_needed;
use simtool_core::sketch::{Score, content_seen};

/// A near document of the index.
///
/// An id that is not UTF-8 has replacement characters, and its bytes are in `id_base64`; likewise
/// for a payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownMatch {
    /// Its id.
    pub id: String,
    /// The bytes of an id that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_base64: Option<String>,
    /// The number of differing bits, for fingerprints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// The similarity that the sketches of other methods give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<f64>,
    /// The proportion of equal bits, for a method that reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
    /// The verified similarity of the texts; `None` if it was not verified.
    pub similarity: Option<f64>,
    /// The two numbers of shingles whose quotient it is: those of both texts, and those of one of them.
    /// Of equal words and of estimates there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shingles: Option<[u64; 2]>,
    /// Whether the similarity is estimated from signatures.
    #[serde(skip_serializing_if = "is_false")]
    pub estimated: bool,
    /// Its payload, if it is shown and not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The bytes of a payload that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_base64: Option<String>,
}

/// The score of two documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NearnessFields {
    /// The number of differing bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// Numerator and denominator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<[u64; 2]>,
    /// The proportion of equal bits, for a method that reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
}

/// A document of an index.
#[derive(Serialize)]
pub struct Known<'a> {
    /// Its id.
    pub id: Cow<'a, str>,
    /// The bytes of an id that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_base64: Option<String>,
    /// Its sketch.
    pub fingerprint: Digits<'a>,
    /// Its payload.
    pub payload: Cow<'a, str>,
    /// The bytes of a payload that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_base64: Option<String>,
}

/// A sketch in hexadecimal: a fingerprint as a number, any other sketch as bytes; empty for a
/// document without features.
pub struct Digits<'a> {
    /// The bytes; those of a number are little-endian.
    pub sketch: &'a [u8],
    /// Whether they are a number.
    pub is_number: bool,
}

/// The line of a document of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line<'a> {
    /// Its id, or its place.
    pub id: Cow<'a, str>,
    /// The bytes of an id that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_base64: Option<String>,
    /// Its location.
    #[serde(flatten)]
    pub at: At<'a>,
    /// The verdict of the index.
    pub verdict: &'static str,
    /// Whether it is no copy.
    pub kept: bool,
    /// Whether it has too few words to be compared by more than equality.
    #[serde(skip_serializing_if = "is_false")]
    pub too_short: bool,
    /// The score against the known document with its id, if it has changed.
    #[serde(flatten)]
    pub changed: Option<NearnessFields>,
    /// Whether it was added, if additions were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<bool>,
    /// The known document of which it is a copy, then others near it.
    pub matches: Vec<KnownMatch>,
    /// How often the text of the first match was seen before.
    #[serde(flatten)]
    pub before: Option<SeenCount>,
    /// The best copy so far, if this one is better.
    #[serde(flatten)]
    pub replaces: Option<Replaced>,
}

/// A document that a later copy replaces by the keep order of the index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replaced {
    replaces: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces_base64: Option<String>,
}

impl Replaced {
    /// The document with this id.
    pub fn new(id: &[u8]) -> Replaced {
        Replaced {
            replaces: String::from_utf8_lossy(id).into_owned(),
            replaces_base64: base64_if_needed(id),
        }
    }
}

/// How often a text was seen before a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeenCount {
    /// Documents: the kept one and its copies.
    pub seen_times: u64,
    /// The label of the dump of the first; missing if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_dump: String,
    /// The label of the dump of the last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_dump: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl NearnessFields {
    /// The score in JSON; `likeness` adds the proportion of equal bits.
    pub fn new(score: Score, likeness: bool) -> NearnessFields {
        match score {
            Score::Distance(bits) => NearnessFields {
                distance: Some(bits),
                similarity: None,
                likeness: likeness.then(|| content_seen::likeness(bits)),
            },
            Score::Fraction(part, whole) => NearnessFields {
                distance: None,
                similarity: Some([part, whole]),
                likeness: None,
            },
        }
    }
}

impl KnownMatch {
    /// The document called `id`.
    pub fn new(
        id: &[u8],
        (score, likeness): (Option<Score>, bool),
        similarity: Option<[u64; 2]>,
        estimated: bool,
    ) -> KnownMatch {
        let decimal = |[part, whole]: [u64; 2]| part as f64 / whole.max(1) as f64;
        let NearnessFields {
            distance,
            similarity: estimate,
            likeness,
        } = score.map_or(NearnessFields::default(), |score| {
            NearnessFields::new(score, likeness)
        });
        KnownMatch {
            id: String::from_utf8_lossy(id).into_owned(),
            id_base64: base64_if_needed(id),
            distance,
            estimate: estimate.map(decimal),
            likeness,
            similarity: similarity.map(decimal),
            shingles: similarity.filter(|_| score.is_some() && !estimated),
            estimated,
            payload: None,
            payload_base64: None,
        }
    }

    /// Sets the payload; an empty one is not shown.
    pub fn set_payload(&mut self, payload: &[u8]) {
        let shown = !payload.is_empty();
        self.payload = shown.then(|| String::from_utf8_lossy(payload).into_owned());
        self.payload_base64 = base64_if_needed(payload);
    }
}

impl<'a> Known<'a> {
    /// The document called `id`.
    pub fn new(id: &'a [u8], fingerprint: Digits<'a>, payload: &'a [u8]) -> Known<'a> {
        Known {
            id: String::from_utf8_lossy(id),
            id_base64: base64_if_needed(id),
            fingerprint,
            payload: String::from_utf8_lossy(payload),
            payload_base64: base64_if_needed(payload),
        }
    }
}

impl Display for Digits<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let digits = |byte: &u8| write!(out, "{byte:02x}");
        match self.is_number {
            true => self.sketch.iter().rev().try_for_each(digits),
            false => self.sketch.iter().try_for_each(digits),
        }
    }
}

impl Serialize for Digits<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Without an intermediate string, since sketches may be long.
        to.collect_str(self)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_have_the_fields_that_the_service_gives() {
        let digits = |sketch, is_number| Digits { sketch, is_number };
        let known = Known::new(b"a", digits(&[1, 0xf], true), b"");
        let expected = json!({"id": "a", "fingerprint": "0f01", "payload": ""});
        assert_eq!(serde_json::to_value(known).unwrap(), expected);
        let known = Known::new(b"\xff", digits(&[1, 0xf], false), b"\xfe");
        let expected = json!({"id": "\u{fffd}", "id_base64": "/w==", "fingerprint": "010f",
            "payload": "\u{fffd}", "payload_base64": "/g=="});
        assert_eq!(serde_json::to_value(known).unwrap(), expected);
    }

    #[test]
    fn lines_have_the_fields_that_others_rely_on() {
        let at = At {
            file: "a.jsonl",
            start: 1,
            length: 2,
            member: None,
        };
        let mut found = KnownMatch::new(
            b"\xff",
            (Some(Score::Fraction(1, 2)), true),
            Some([7, 8]),
            false,
        );
        let mut line = Line {
            id: "x".into(),
            id_base64: None,
            at,
            verdict: "changed",
            kept: false,
            too_short: false,
            changed: Some(NearnessFields::new(Score::Distance(8), true)),
            added: None,
            matches: vec![found.clone()],
            before: None,
            replaces: None,
        };
        let mut out = Vec::new();
        line.write(&mut out);
        line.changed = None;
        line.added = Some(true);
        line.replaces = Some(Replaced::new(b"\xff"));
        line.matches.clear();
        line.write(&mut out);
        found.set_payload(b"");
        line.matches.push(found.clone());
        found.set_payload(b"u");
        line.matches.push(found.clone());
        found.set_payload(b"\xfe");
        line.matches.push(found);
        line.write(&mut out);
        let lines: Vec<serde_json::Value> = out
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let near = json!({"id": "\u{fffd}", "id_base64": "/w==", "estimate": 0.5,
            "similarity": 0.875, "shingles": [7, 8]});
        let first = json!({"id": "x", "file": "a.jsonl", "start": 1, "length": 2,
            "member": null, "verdict": "changed", "kept": false, "distance": 8, "likeness": 0.75,
            "matches": [near]});
        assert_eq!(lines[0], first);
        let mut next = json!({"id": "x", "file": "a.jsonl", "start": 1, "length": 2,
            "member": null, "verdict": "changed", "kept": false, "added": true, "matches": [],
            "replaces": "\u{fffd}", "replaces_base64": "/w=="});
        assert_eq!(lines[1], next);
        let near = |payload: serde_json::Value| {
            let mut near = json!({"id": "\u{fffd}", "id_base64": "/w==", "estimate": 0.5,
            "similarity": 0.875, "shingles": [7, 8]});
            let fields = payload.as_object().unwrap().clone();
            near.as_object_mut().unwrap().extend(fields);
            near
        };
        let bytes = json!({"payload": "\u{fffd}", "payload_base64": "/g=="});
        next["matches"] = json!([near(json!({})), near(json!({"payload": "u"})), near(bytes)]);
        assert_eq!(lines[2], next);
    }
}
