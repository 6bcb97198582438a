//! Queries and answers.

use super::nearest::Found;
use crate::sketch::{Compare, Score};

/// The maximum number of matches of a query that a search keeps.
const MAX_MATCHES: usize = u32::MAX as usize;

/// A document as it is put into an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// 1 to 65 535 bytes, unique in the index.
    pub id: &'a [u8],
    /// Empty for a document that cannot be compared: it is stored and never matches.
    pub sketch: &'a [u8],
    /// Data returned with the document, such as a URL or a time. At most 2²⁴ bytes.
    pub payload: &'a [u8],
}

/// A query for near documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The id of the query document, if it has one: a document does not match itself.
    pub id: Option<&'a [u8]>,
    /// Its sketch; empty if it cannot be compared.
    pub sketch: &'a [u8],
}

/// The relation of a document to the index. These are all cases: whether the index has its id,
/// with the same sketch, or else a near document, and whether it can be compared at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The index has neither its id nor a near document.
    New,
    /// The index has a near document, but not its id.
    Duplicate,
    /// The index has its id with the same sketch.
    Unchanged,
    /// The index has its id with another sketch. The score of the two, if they can be compared.
    Changed(Option<Score>),
    /// The index does not have its id, and it cannot be compared.
    Empty,
}

impl Verdict {
    /// The name in reports.
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

/// A near document.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id.
    pub id: Vec<u8>,
    /// Its score.
    pub score: Score,
    /// The similarity of the two texts, if their sketches tell ([`Compare::verifier`]): the numbers of
    /// shingles that both have and that one of them has. Of an estimate, thousandths and 1000.
    pub similarity: Option<[u32; 2]>,
}

/// The answer to one query or addition.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The relation to the index before the addition.
    pub verdict: Verdict,
    /// The nearest documents with other ids, nearest first; older ones first among equals.
    pub matches: Vec<Match>,
    /// Whether the document was added; false for queries and unchanged documents.
    pub added: bool,
    /// Whether further matches within the limit were left out because of the bytes of their ids.
    pub truncated: bool,
}

/// The bounds of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Matches of each answer; at least one.
    pub matches: usize,
    /// Bytes of the ids in each answer.
    pub id_bytes: usize,
    /// Bytes of the ids in all answers of a call.
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
    /// With a valid number of matches.
    pub(super) fn checked(self) -> Limit {
        Limit {
            matches: self.matches.clamp(1, MAX_MATCHES),
            ..self
        }
    }
}

/// The matches of an answer under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchList {
    pub matches: Vec<Match>,
    id_bytes: usize,
    pub truncated: bool,
}

impl MatchList {
    /// Adds the next nearest document, if `limit` and `left`, the rest of its `all_id_bytes`,
    /// allow.
    pub fn push(&mut self, limit: &Limit, left: &mut usize, id: &[u8], found: &Found) {
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
        self.matches.push(Match {
            id,
            score: found.score,
            similarity: found.similarity,
        });
    }

    /// Whether there are near documents, listed or not.
    pub fn has_any(&self) -> bool {
        self.truncated || !self.matches.is_empty()
    }
}

/// A document of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: Vec<u8>,
    /// Its sketch.
    pub sketch: Vec<u8>,
    /// The payload that was added with it.
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

/// The verdict on a sketch, given the sketch of the document with the same id, and whether others
/// are near.
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
