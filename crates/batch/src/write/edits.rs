//! What a job changes in the documents that it writes.

use std::ops::Range;

use super::annotation::Mark;
use crate::Result;
use simtool_corpus::Source;

/// What changes in the documents that are written.
#[derive(Clone, Copy)]
pub enum Edits<'a> {
    /// Nothing.
    None,
    /// Those in clusters get a mark.
    Marks(&'a dyn Marks),
    /// Some get a new text.
    Texts(&'a dyn DocumentTexts),
}

/// The marks of documents.
pub trait Marks: Sync {
    /// The marks of the documents `numbers`, in order; `None` for those in no cluster.
    ///
    /// # Errors
    /// Errors of reading what the job stored.
    fn of(&self, numbers: Range<u32>) -> Result<Vec<Option<Mark>>>;
}

/// The new texts of documents.
pub trait DocumentTexts: Sync {
    /// Whether one of the documents `numbers` gets a new text.
    ///
    /// # Errors
    /// Errors of reading what the job stored.
    fn has_any_of(&self, numbers: Range<u32>) -> Result<bool>;

    /// The new texts of the documents `numbers`.
    ///
    /// # Errors
    /// Errors of reading what the job stored.
    fn of(&self, numbers: Range<u32>) -> Result<Box<dyn SomeTexts + '_>>;
}

/// The new texts of some documents.
pub trait SomeTexts {
    /// Whether a document gets a new text.
    fn has(&self, number: u32) -> bool;

    /// The new text of a document of `source` whose text is `text`.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the text is not as it was.
    fn of(&self, number: u32, source: &Source, text: &[u8]) -> Result<Vec<u8>>;
}

impl<'a> Edits<'a> {
    /// The new texts of the documents `numbers`, if some get one.
    ///
    /// # Errors
    /// Errors of [`DocumentTexts::of`].
    pub fn texts_of(&self, numbers: Range<u32>) -> Result<Option<Box<dyn SomeTexts + 'a>>> {
        match self {
            Edits::Texts(texts) => texts.of(numbers).map(Some),
            Edits::None | Edits::Marks(_) => Ok(None),
        }
    }
}
