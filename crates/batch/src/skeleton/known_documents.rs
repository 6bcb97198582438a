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

    /// For the first sketches, the nearest document that the method accepts, if any; the oldest one
    /// among equals. There is at least one sketch.
    ///
    /// Returns at least one answer. Answers end before their ids exceed `most_id_bytes` bytes in all.
    ///
    /// # Errors
    /// Errors of reading.
    fn nearest(&self, sketches: &[&[u8]], most_id_bytes: usize) -> Result<Vec<Option<Nearest>>>;

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

/// A known document near a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The document's id.
    pub id: Vec<u8>,
    /// The score of the method.
    pub score: Score,
    /// The similarity of the texts as a fraction, if the sketches tell.
    pub similarity: Option<[u64; 2]>,
}
