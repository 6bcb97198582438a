//! Queries and answers.

use xxhash_rust::xxh3::xxh3_64;

use crate::sketch::Score;

/// The maximum number of matches of a query that a search keeps.
const MAX_MATCHES: usize = u32::MAX as usize;

/// A document as it is put into an index, or asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// 1 to 65 535 bytes; a query may have none.
    pub id: &'a [u8],
    /// A digest of what makes documents equal, such as their words. `None` if it is not known, or
    /// if there is nothing to compare.
    pub words: Option<u128>,
    /// A digest of the text.
    pub text: u64,
    /// Empty for a document that is not compared by its sketch.
    pub sketch: &'a [u8],
    /// Data returned with the document, such as a URL or a time. At most 2²⁴ bytes.
    pub payload: &'a [u8],
    /// Whether the id is a place, which may have held another text before. Not stored.
    pub is_place: bool,
    /// A hash of the source of the document, such as its file; 0 for none.
    pub source: u64,
    /// A hash of the site of the document; 0 for none.
    pub site: u64,
    /// A key by which the best of several copies is found: that with the smallest one, or the oldest
    /// of these. Empty if the oldest is the best: then for all documents of the index. At most 255
    /// bytes.
    pub keep: &'a [u8],
}

impl Entry<'_> {
    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.words.is_none() && self.sketch.is_empty()
    }

    /// Equal if [`has_text_of`](Self::has_text_of) is true.
    pub(super) fn text_key(&self) -> u64 {
        match self.words {
            Some(words) => self.text.rotate_left(1) ^ words as u64,
            None => self.text ^ xxh3_64(self.sketch),
        }
    }

    /// Whether this is the text of `other`, as far as digests and sketches tell.
    pub(super) fn has_text_of(&self, other: &Entry<'_>) -> bool {
        let is_same = (self.text, self.words) == (other.text, other.words);
        is_same && (self.words.is_some() || self.sketch == other.sketch)
    }
}

/// The relation of a document to the index. These are all cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is no copy of a document of the index.
    New,
    /// It has the words of an earlier document, or a kept one is near it.
    Duplicate,
    /// The index has its id with the same text: for an addition, in the same dump.
    Unchanged,
    /// The newest document with its id has another text. The score of the two, if they can be
    /// compared.
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

/// Why a document is a copy of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Both have the same text.
    Text,
    /// Both have the same words.
    Words,
    /// Their sketches are near, or it has the words of a document to which that applies.
    Near {
        /// The score of the sketches.
        score: Score,
        /// The similarity of the texts, if the sketches tell
        /// ([`Compare::verifier`](simtool_core::sketch::Compare::verifier)): the numbers of shingles
        /// that both have and that one of them has. Of an estimate, thousandths and 1000.
        similarity: Option<[u32; 2]>,
    },
}

/// A document of which another one is a copy.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id.
    pub id: Vec<u8>,
    /// Its number among all documents that were added, from 0.
    pub ordinal: u64,
    /// Why.
    pub evidence: Evidence,
}

/// How often a kept document and its copies were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenBefore {
    /// Documents: the kept one and its copies, without removed ones.
    pub times: u64,
    /// The number of the dump of the first.
    pub first_dump: u32,
    /// That of the last.
    pub last_dump: u32,
}

/// The answer to one query or addition.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The relation to the index before the addition.
    pub verdict: Verdict,
    /// Whether it is kept, as `dedup` would keep it: it is no copy.
    pub kept: bool,
    /// The document of which it is a copy, as `dedup` would say of all of them; then further kept
    /// documents near it, the oldest first.
    pub matches: Vec<Match>,
    /// How often the text of the first match was seen before; `None` without a match.
    pub before: Option<SeenBefore>,
    /// The id of the best copy so far, if this one is better by its [key](Entry::keep). `kept` and the
    /// matches do not depend on it.
    pub replaces: Option<Vec<u8>>,
    /// Whether the document was added; false for queries and unchanged documents.
    pub added: bool,
    /// Whether further ids within the limit were left out because of their bytes.
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
    pub replaces: Option<Vec<u8>>,
    id_bytes: usize,
    pub truncated: bool,
}

impl MatchList {
    /// Sets the id of the document that is replaced, before any match is added. Without space for it,
    /// there is none for matches either.
    pub fn replace(&mut self, limit: &Limit, left: &mut usize, id: &[u8]) {
        if id.len() > *left || id.len() > limit.id_bytes {
            self.truncated = true;
            return;
        }
        *left -= id.len();
        self.id_bytes += id.len();
        self.replaces = Some(id.to_vec());
    }

    /// Adds a match, if `limit` and `left`, the rest of its `all_id_bytes`, allow.
    pub fn push(&mut self, limit: &Limit, left: &mut usize, found: (&[u8], u64, Evidence)) {
        let (id, ordinal, evidence) = found;
        if self.truncated || self.matches.len() >= limit.matches {
            return;
        }
        if id.len() > *left || self.id_bytes + id.len() > limit.id_bytes {
            self.truncated = true;
            return;
        }
        *left -= id.len();
        self.id_bytes += id.len();
        self.matches.push(Match {
            id: id.to_vec(),
            ordinal,
            evidence,
        });
    }
}
