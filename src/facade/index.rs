//! A persistent index of texts.

use std::path::Path;

use crate::engine::collection::InputSettings;
use crate::index::{Answer, Entry, Options, Query};
use crate::jobs::dedup::DEFAULT_METHOD;
use crate::jobs::seen::{ExpectedSettings, IndexSettings, Seen};
use crate::kernel::Level;
use crate::sketch::registry::Spec;
use crate::text::{Choice, builtin_stop_words};
use crate::{Error, ErrorKind, Result};

/// The most matches of an answer.
const MATCHES: usize = 10;

/// A directory that knows texts by their sketches: has this been seen?
///
/// `simtool index` can read and change the same directory, but only one process at a time can have
/// it open for writing. A text survives a killed process and a power loss once [`add`](Index::add)
/// has returned. [`crate::index::Index`] has all functions, for sketches.
///
/// ```
/// use simtool::{Index, Verdict};
///
/// # let temporary = tempfile::tempdir().unwrap();
/// # let directory = temporary.path().join("seen");
/// let index = Index::create(&directory)?;
/// let text = "A cat sat on the mat while a dog slept in the sun behind the house by the sea";
/// assert_eq!(index.add("http://a.example/", text)?.verdict, Verdict::New);
///
/// let answer = index.query(text.to_uppercase())?;
/// assert_eq!(answer.verdict, Verdict::Duplicate);
/// assert_eq!(answer.matches[0].id, b"http://a.example/");
/// # Ok::<(), simtool::Error>(())
/// ```
pub struct Index {
    seen: Seen,
}

impl Index {
    /// Creates an empty index in `directory`, with SimHash fingerprints of 64 bits.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if `directory` is inside an index, or is neither new nor empty;
    /// [`ErrorKind::Read`] if another process is creating it; [`ErrorKind::Write`].
    pub fn create(directory: impl AsRef<Path>) -> Result<Index> {
        Index::create_with(directory, DEFAULT_METHOD)
    }

    /// Creates an empty index whose texts are compared by `method`, as in `simtool index build
    /// --method`.
    ///
    /// # Errors
    /// Those of [`create`](Self::create); [`ErrorKind::Parameter`] for an unknown method, and for
    /// one that needs statistics of a collection.
    pub fn create_with(directory: impl AsRef<Path>, method: &str) -> Result<Index> {
        let input_settings = InputSettings {
            reading: Default::default(),
            tokenizer: Choice::default(),
            stop_words: builtin_stop_words(),
        };
        let settings = IndexSettings::without_collection(Spec::parse(method)?, &input_settings)?;
        let directory = directory.as_ref();
        let seen = Seen::create(directory, settings, Level::best(), &Options::default())?;
        Ok(Index { seen })
    }

    /// Opens the index in `directory`; its method is the one that it was created with.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if there is none, or if another process has it open;
    /// [`ErrorKind::Content`] if it is damaged; [`ErrorKind::Write`].
    pub fn open(directory: impl AsRef<Path>) -> Result<Index> {
        let (expected, options) = (ExpectedSettings::default(), Options::default());
        let seen = Seen::open(directory.as_ref(), &expected, Level::best(), &options)?;
        Ok(Index { seen })
    }

    /// Compares a text with those in the index; changes nothing.
    ///
    /// The answer has at most ten matches, the nearest first. They are near by their sketches, and
    /// not compared word by word.
    ///
    /// # Errors
    /// Those of reading the index.
    pub fn query(&self, text: impl AsRef<[u8]>) -> Result<Answer> {
        let mut texts = self.seen.texts();
        let sketch = texts.sketch(text.as_ref()).unwrap_or_default();
        let query = Query { id: None, sketch };
        self.seen.index().seen(&[query], MATCHES).and_then(only)
    }

    /// Compares a text with those in the index, and adds it under the name `id`, in one step.
    ///
    /// Another text of the same name is replaced. Durable when the function returns.
    ///
    /// # Errors
    /// Those of reading and writing the index;
    /// [`ErrorKind::Parameter`] for an empty id or one of more than
    /// 65 535 bytes.
    pub fn add(&self, id: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Result<Answer> {
        let mut texts = self.seen.texts();
        let entry = Entry {
            id: id.as_ref(),
            sketch: texts.sketch(text.as_ref()).unwrap_or_default(),
            payload: b"",
        };
        self.seen.index().add(&[entry], MATCHES).and_then(only)
    }

    /// Removes the text of the name `id`; `false` if there is none. Durable when it returns.
    ///
    /// # Errors
    /// Those of reading and writing the index.
    pub fn remove(&self, id: impl AsRef<[u8]>) -> Result<bool> {
        let removed = self.seen.index().remove(&[id.as_ref()])?;
        Ok(removed.first() == Some(&true))
    }

    /// The number of texts.
    pub fn len(&self) -> u64 {
        self.seen.index().info().documents
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The answer to the only query.
fn only(mut answers: Vec<Answer>) -> Result<Answer> {
    let message = "the index did not answer";
    answers
        .pop()
        .ok_or_else(|| Error::new(ErrorKind::Content, message))
}
