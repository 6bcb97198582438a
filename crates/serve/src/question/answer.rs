//! Answers as JSON, with bounded size.
//!
//! Ids may be long, and an answer lists many. So the bytes of ids are bounded. Memory for a long
//! answer is reserved before it is formatted, and released when it is sent.

use std::borrow::Cow;

use serde::Serialize;
use simtool_batch::seen::{Seen, before, changed, near};
use simtool_index::{Answer, Limit, MAX_ID_BYTES};
use simtool_report::verdicts::{
    Digits, KnownMatch, NearnessFields, Replaced, SeenCount, base64_if_needed,
};

use crate::question::Question;

/// The answer to a question.
#[derive(Serialize)]
pub struct AnswerJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    /// new, duplicate, unchanged, changed or empty.
    pub verdict: &'static str,
    /// Whether it is no copy.
    kept: bool,
    /// It has too few words to be compared by more than equality.
    #[serde(skip_serializing_if = "is_false")]
    too_short: bool,
    #[serde(flatten)]
    changed: Option<NearnessFields>,
    fingerprint: Digits<'a>,
    added: bool,
    matches: Vec<KnownMatch>,
    #[serde(flatten)]
    before: Option<SeenCount>,
    #[serde(flatten)]
    replaces: Option<Replaced>,
    /// Further matches, or the replaced document, were left out because their ids are too long.
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Bytes of ids in an answer for each requested match.
const MATCH_BYTES: usize = 4 << 10;
/// The most bytes of ids in an answer, and in answers that are written together. The longest id is
/// always allowed.
pub const IDS_BYTES: usize = 1 << 20;
/// An answer with at most this number of bytes of ids needs no reservation.
pub const SHORT_BYTES: usize = 64 << 10;
/// Memory for each byte of an id: its value, its JSON, and Base64 if it is no text.
const RESERVED_FACTOR: usize = 8;

/// The bounds of an answer with `matches` matches.
pub fn limit(matches: usize) -> Limit {
    Limit {
        matches,
        id_bytes: matches
            .saturating_mul(MATCH_BYTES)
            .clamp(MAX_ID_BYTES, IDS_BYTES),
        ..Limit::from(matches)
    }
}

/// Bytes of all ids in `answer`.
pub fn id_bytes(answer: &Answer) -> usize {
    let matches = answer.matches.iter().map(|near| near.id.len());
    matches.chain(answer.replaces.as_ref().map(Vec::len)).sum()
}

/// The bytes to reserve for an answer with that number of bytes of ids; none for a short one.
pub fn answer_reservation(id_bytes: usize) -> Option<usize> {
    (id_bytes > SHORT_BYTES).then(|| id_bytes.saturating_mul(RESERVED_FACTOR))
}

/// Truncates the ids of `answer` to the bytes that are `left`, and reduces `left`. Without space for
/// the replaced document, there is none for matches either.
pub fn cut(answer: &mut Answer, left: &mut usize) {
    if let Some(replaced) = &answer.replaces {
        match left.checked_sub(replaced.len()) {
            Some(rest) => *left = rest,
            None => (answer.replaces, answer.truncated, *left) = (None, true, 0),
        }
    }
    let fits = answer.matches.iter().take_while(|near| {
        let rest = left.checked_sub(near.id.len());
        *left = rest.unwrap_or(*left);
        rest.is_some()
    });
    let fitting = fits.count();
    answer.truncated |= fitting < answer.matches.len();
    answer.matches.truncate(fitting);
}

impl<'a> AnswerJson<'a> {
    pub fn new(seen: &Seen, question: &'a Question, answer: &Answer) -> AnswerJson<'a> {
        let likeness = seen.has_likeness();
        let id = question.id.as_deref();
        AnswerJson {
            id: id.map(String::from_utf8_lossy),
            id_base64: id.and_then(base64_if_needed),
            verdict: answer.verdict.name(),
            kept: answer.kept,
            too_short: question.facts.is_short,
            changed: changed(&answer.verdict, likeness),
            fingerprint: seen.digits(&question.facts.sketch),
            added: answer.added,
            matches: near(seen, answer),
            before: before(seen, answer),
            replaces: answer.replaces.as_deref().map(Replaced::new),
            truncated: answer.truncated,
        }
    }
}
