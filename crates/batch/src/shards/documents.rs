//! What a job says of the documents that it writes.

use std::ops::Range;

use crate::Result;
#[cfg(feature = "parquet")]
use simtool_corpus::Place;
use simtool_corpus::Source;

/// The documents of a job.
pub trait ShardDocuments: Sync {
    /// A function that gives the place of each document in its source, fast for ascending numbers.
    #[cfg(feature = "parquet")]
    fn places(&self) -> Box<dyn FnMut(u32) -> Result<Place> + '_>;

    /// The new texts of the documents `numbers`; `None` if all of them stay as they are.
    ///
    /// # Errors
    /// Errors of reading what the job stored.
    fn new_texts(&self, _numbers: Range<u32>) -> Result<Option<Box<dyn NewTexts + '_>>> {
        Ok(None)
    }
}

/// New texts of some documents.
pub trait NewTexts {
    /// Whether a document gets a new text.
    fn has(&self, number: u32) -> bool;

    /// The new text of a document of `source` whose text is `text`.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the text is not as it was.
    fn of(&self, number: u32, source: &Source, text: &[u8]) -> Result<Vec<u8>>;
}
