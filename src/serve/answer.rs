//! What is answered, and how much of it.
//!
//! Ids may be long, and an answer lists many. So the bytes of its ids are bounded, and memory is
//! lent for an answer before it is written, and returned when the client has read it.

use std::borrow::Cow;

use serde::Serialize;
use simtool::index::{Answer, Limit, MOST_ID_BYTES};
use simtool::report::verdicts::{Digits, KnownMatch, Nearness, base64_if_needed};
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
    matches: Vec<KnownMatch>,
    /// There are more, whose ids are too long for an answer.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
}

fn is_false(truncated: &bool) -> bool {
    !truncated
}

/// Bytes of ids that an answer may have for each match that is asked for.
const MATCH_BYTES: usize = 4 << 10;
/// The most bytes of ids in an answer, and in answers that are written together. The longest id is
/// always allowed.
pub const IDS_BYTES: usize = 1 << 20;
/// An answer with at most this number of bytes of ids needs no reservation.
pub const SHORT_BYTES: usize = 64 << 10;
/// Each byte of an id is there as it is, as it is shown, and as Base64 if it is no text.
const SHOWN: usize = 8;

/// What an answer with `matches` may list.
pub fn limit(matches: usize) -> Limit {
    Limit {
        matches,
        id_bytes: matches
            .saturating_mul(MATCH_BYTES)
            .clamp(MOST_ID_BYTES, IDS_BYTES),
        ..Limit::from(matches)
    }
}

/// Bytes of all ids that `answer` lists.
pub fn id_bytes(answer: &Answer) -> usize {
    answer.matches.iter().map(|near| near.id.len()).sum()
}

/// The bytes to reserve for an answer with that number of bytes of ids; none for a short one.
pub fn loan_bytes(id_bytes: usize) -> Option<usize> {
    (id_bytes > SHORT_BYTES).then(|| id_bytes.saturating_mul(SHOWN))
}

/// Takes from the answers what is beyond the bytes that ids may have together, `left` at first.
pub fn cut(answer: &mut Answer, left: &mut usize) {
    let fits = answer.matches.iter().take_while(|near| {
        let rest = left.checked_sub(near.id.len());
        *left = rest.unwrap_or(*left);
        rest.is_some()
    });
    let fitting = fits.count();
    answer.truncated |= fitting < answer.matches.len();
    answer.matches.truncate(fitting);
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
            truncated: answer.truncated,
        }
    }
}
