//! Documents of which only ids and sketches are available, such as those of an index.

use serde_json::Value;

use crate::Result;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Score, SignedMethod};
use simtool_core::text::{Choice, WordSet};
use simtool_corpus::Reading;

/// Documents of which only ids and sketches are available.
pub trait KnownDocuments: Sync {
    /// The number of documents.
    fn documents(&self) -> u64;

    /// The method of their sketches.
    ///
    /// # Errors
    /// Errors of building the method.
    fn method(&self) -> Result<SignedMethod>;

    /// Fails unless sketches that are made in this way can be compared with theirs.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter), showing both ways.
    fn expect(&self, sketching: &Sketching<'_>) -> Result<()>;

    /// For the first of the documents `asked`, that of which it is a copy, if any, as if both were in
    /// one collection. There is at least one.
    ///
    /// Returns at least one answer. Answers end before their ids exceed `most_id_bytes` bytes in all.
    ///
    /// # Errors
    /// Errors of reading.
    fn copied(&self, asked: &[Asked<'_>], most_id_bytes: usize) -> Result<Vec<Option<KnownCopy>>>;

    /// Whether similarities are estimates.
    fn estimates(&self) -> bool;

    /// A description for the summary.
    fn describe(&self) -> Value;

    /// What must be unchanged for a run to resume.
    ///
    /// # Errors
    /// Errors of reading.
    fn state(&self) -> Result<Value>;
}

/// How sketches are made.
#[derive(Clone, Copy)]
pub struct Sketching<'a> {
    /// The method.
    pub method: &'a Spec,
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that methods with stop words leave out.
    pub stop_words: &'a WordSet,
    /// How documents are read.
    pub reading: &'a Reading,
}

/// A document that may be a copy of a known one.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The digest by which documents are equal.
    pub words: u128,
    /// The digest of its text.
    pub text: u64,
    /// Empty if it is compared for equality only.
    pub sketch: &'a [u8],
}

/// A known document of which another one is a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCopy {
    /// The known document's id.
    pub id: Vec<u8>,
    /// Why.
    pub evidence: CopyEvidence,
}

/// Why a document is a copy of a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEvidence {
    /// Both have the same text.
    Text,
    /// Both have the same words.
    Words,
    /// Their sketches are near.
    Near {
        /// The score of the method.
        score: Score,
        /// The similarity of the texts as a fraction, if the sketches tell.
        similarity: Option<[u64; 2]>,
    },
}
