//! What is answered.

use std::borrow::Cow;

use serde::Serialize;
use simtool::index::Answer;
use simtool::report::verdicts::{Digits, Near, Nearness, base64_if_needed};
use simtool::run::seen::{Seen, changed, near};

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

impl<'a> Said<'a> {
    pub fn new(seen: &Seen, asked: &'a Asked, answer: &Answer) -> Said<'a> {
        let likeness = seen.has_likeness();
        let id = asked.id.as_deref();
        Said {
            id: id.map(String::from_utf8_lossy),
            id_base64: id.and_then(base64_if_needed),
            verdict: answer.verdict.name(),
            changed: changed(&answer.verdict, likeness),
            fingerprint: seen.digits(&asked.sketch),
            added: answer.added,
            matches: near(answer, likeness),
        }
    }
}
