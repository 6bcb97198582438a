//! What is answered.

use serde::Serialize;
use simtool::index::{Answer, Document};
use simtool::report::verdicts::{Near, Nearness, base64_if_needed};
use simtool::run::seen::{Seen, changed, near};
use simtool::sketch::Shape;

use super::ask::Asked;

/// What is said of a document that somebody asked about.
#[derive(Serialize)]
pub struct Said {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    /// new, duplicate, unchanged, changed or empty.
    pub verdict: &'static str,
    #[serde(flatten)]
    changed: Option<Nearness>,
    fingerprint: String,
    added: bool,
    matches: Vec<Near>,
}

/// A document of the index.
#[derive(Serialize)]
pub struct Known {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    fingerprint: String,
    payload: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_base64: Option<String>,
}

impl Said {
    pub fn new(seen: &Seen, asked: &Asked, mut answer: Answer) -> Said {
        answer.matches.truncate(asked.limit);
        let likeness = seen.has_likeness();
        let id = asked.id.as_deref();
        Said {
            id: id.map(|id| String::from_utf8_lossy(id).into_owned()),
            id_base64: id.and_then(base64_if_needed),
            verdict: answer.verdict.name(),
            changed: changed(&answer.verdict, likeness),
            fingerprint: fingerprint(seen, &asked.sketch),
            added: answer.added,
            matches: near(&answer, likeness),
        }
    }
}

impl Known {
    pub fn new(seen: &Seen, document: &Document) -> Known {
        Known {
            id: String::from_utf8_lossy(&document.id).into_owned(),
            id_base64: base64_if_needed(&document.id),
            fingerprint: fingerprint(seen, &document.sketch),
            payload: String::from_utf8_lossy(&document.payload).into_owned(),
            payload_base64: base64_if_needed(&document.payload),
        }
    }
}

/// Hexadecimal digits: those of the number that a fingerprint is, those of the bytes of any other
/// sketch; none for a document that has nothing to compare.
fn fingerprint(seen: &Seen, sketch: &[u8]) -> String {
    let digits = |bytes: &mut dyn Iterator<Item = &u8>| -> String {
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    match seen.method().shape() {
        Shape::Bits { .. } => digits(&mut sketch.iter().rev()),
        Shape::Keys => digits(&mut sketch.iter()),
    }
}
