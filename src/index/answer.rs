//! What is asked, and what is answered.

use super::MOST_MATCHES;
use crate::sketch::{Compare, Score};

/// A document as it is put into an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name: any bytes, not none, at most 65 535; the index holds one document of a name.
    pub id: &'a [u8],
    /// Its sketch; empty for a document that has nothing to be compared. Such a one is kept and
    /// never matches.
    pub sketch: &'a [u8],
    /// What comes back with it: a URL, a time. At most 2²⁴ bytes.
    pub payload: &'a [u8],
}

/// What is asked of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The name of the document that asks, if it has one: it does not match itself.
    pub id: Option<&'a [u8]>,
    /// Its sketch; empty if it has nothing to be compared.
    pub sketch: &'a [u8],
}

/// What the index knows of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Neither its id nor a near document is there.
    New,
    /// Its id is not there, but a document near it.
    Duplicate,
    /// Its id is there, with the same sketch.
    Unchanged,
    /// Its id is there, with another sketch; how near the two are, if both can be compared.
    Changed(Option<Score>),
    /// Its id is not there, and it has nothing to be compared.
    Empty,
}

impl Verdict {
    /// As other programs read it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::New => "new",
            Verdict::Duplicate => "duplicate",
            Verdict::Unchanged => "unchanged",
            Verdict::Changed(_) => "changed",
            Verdict::Empty => "empty",
        }
    }
}

/// A document that is near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its name.
    pub id: Vec<u8>,
    /// How near it is.
    pub score: Score,
}

/// The answer to one query or addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the index knew.
    pub verdict: Verdict,
    /// The nearest documents of other names, nearest first, older ones first among equals.
    pub matches: Vec<Match>,
    /// Whether the index has changed: not by a question, and not if nothing was new.
    pub added: bool,
    /// Whether there are more matches that were wanted, whose ids did not fit.
    pub truncated: bool,
}

/// How much an answer may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Matches of each answer; at least one.
    pub matches: usize,
    /// Bytes of the ids that each answer lists.
    pub id_bytes: usize,
    /// Bytes of the ids that the answers of one call list together.
    pub all_id_bytes: usize,
}

impl From<usize> for Limit {
    fn from(matches: usize) -> Limit {
        Limit {
            matches,
            id_bytes: usize::MAX,
            all_id_bytes: usize::MAX,
        }
    }
}

impl Limit {
    /// With a number of matches that a search can have.
    pub(super) fn checked(self) -> Limit {
        Limit {
            matches: self.matches.clamp(1, MOST_MATCHES),
            ..self
        }
    }
}

/// The matches of an answer that is being made.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub matches: Vec<Match>,
    id_bytes: usize,
    pub truncated: bool,
}

impl Listed {
    /// Adds the next nearest document, if `limit` and what is left of its `all_id_bytes` allow.
    pub fn push(&mut self, limit: &Limit, left: &mut usize, id: &[u8], score: Score) {
        if self.truncated || self.matches.len() >= limit.matches {
            return;
        }
        if id.len() > *left || self.id_bytes + id.len() > limit.id_bytes {
            self.truncated = true;
            return;
        }
        *left -= id.len();
        self.id_bytes += id.len();
        let id = id.to_vec();
        self.matches.push(Match { id, score });
    }

    /// Whether something was near, listed or not.
    pub fn has_any(&self) -> bool {
        self.truncated || !self.matches.is_empty()
    }
}

/// A document as an index gives it back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its name.
    pub id: Vec<u8>,
    /// Its sketch.
    pub sketch: Vec<u8>,
    /// What was put in with it.
    pub payload: Vec<u8>,
}

impl Document {
    pub(super) fn of(entry: &Entry<'_>) -> Document {
        Document {
            id: entry.id.to_vec(),
            sketch: entry.sketch.to_vec(),
            payload: entry.payload.to_vec(),
        }
    }
}

/// What to say of a sketch, given that of the document of the same name, and whether others are
/// near.
pub(super) fn judge(
    method: &dyn Compare,
    sketch: &[u8],
    known: Option<&[u8]>,
    has_matches: bool,
) -> Verdict {
    match known {
        Some(known) if known == sketch => Verdict::Unchanged,
        Some(known) => {
            let comparable = !known.is_empty() && !sketch.is_empty();
            Verdict::Changed(comparable.then(|| method.score(known, sketch)))
        }
        None if sketch.is_empty() => Verdict::Empty,
        None if has_matches => Verdict::Duplicate,
        None => Verdict::New,
    }
}
