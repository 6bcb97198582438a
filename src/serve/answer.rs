//! What is answered.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use serde::{Serialize, Serializer};
use simtool::index::{Answer, Document};
use simtool::report::verdicts::{Near, Nearness, base64_if_needed};
use simtool::run::seen::{Seen, changed, near};
use simtool::sketch::Shape;

use super::ask::Asked;

/// What is said of a document that somebody asked about.
#[derive(Serialize)]
pub struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    /// new, duplicate, unchanged, changed or empty.
    pub verdict: &'static str,
    #[serde(flatten)]
    changed: Option<Nearness>,
    fingerprint: Digits<'a>,
    added: bool,
    matches: Vec<Near>,
}

/// A document of the index.
#[derive(Serialize)]
pub struct Known<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    fingerprint: Digits<'a>,
    payload: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_base64: Option<String>,
}

/// Hexadecimal digits: those of the number that a fingerprint is, those of the bytes of any other
/// sketch; none for a document that has nothing to compare.
struct Digits<'a> {
    sketch: &'a [u8],
    is_number: bool,
}

impl<'a> Said<'a> {
    pub fn new(seen: &Seen, asked: &'a Asked, answer: &Answer) -> Said<'a> {
        let likeness = seen.has_likeness();
        let id = asked.id.as_deref();
        Said {
            id: id.map(String::from_utf8_lossy),
            id_base64: id.and_then(base64_if_needed),
            verdict: answer.verdict.name(),
            changed: changed(&answer.verdict, likeness),
            fingerprint: Digits::of(seen, &asked.sketch),
            added: answer.added,
            matches: near(answer, likeness),
        }
    }
}

impl<'a> Known<'a> {
    pub fn new(seen: &Seen, document: &'a Document) -> Known<'a> {
        Known {
            id: String::from_utf8_lossy(&document.id),
            id_base64: base64_if_needed(&document.id),
            fingerprint: Digits::of(seen, &document.sketch),
            payload: String::from_utf8_lossy(&document.payload),
            payload_base64: base64_if_needed(&document.payload),
        }
    }
}

impl<'a> Digits<'a> {
    fn of(seen: &Seen, sketch: &'a [u8]) -> Digits<'a> {
        let is_number = matches!(seen.method().shape(), Shape::Bits { .. });
        Digits { sketch, is_number }
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
        // Long ones are not put together first.
        to.collect_str(self)
    }
}
