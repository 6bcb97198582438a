//! A persistent index of texts.

use std::path::Path;

use crate::engine::collection::InputSettings;
use crate::index::{Answer, Entry, Options};
use crate::jobs::seen::{
    ExpectedSettings, GROUP_BYTES, GROUP_DOCUMENTS, IndexSettings, Seen, TextFacts,
    spec_of_new_index,
};
use crate::kernel::Level;
use crate::text::{Choice, builtin_stop_words};
use crate::{Error, ErrorKind, Result};

/// The most matches of an answer.
const MATCHES: usize = 10;

/// A directory that knows texts by their sketches: has this been seen, and would it be kept?
///
/// `simtool index` can read and change the same directory, but only one `Index` at a time can have
/// it open: a second one, in this process or another, is refused. Threads share it by reference. A
/// text survives a killed process and a power loss once [`add`](Index::add) has returned.
/// [`crate::index::Index`] has all functions, for sketches.
///
/// The decisions about texts that are added one after another are those of
/// [`dedup`](crate::dedup()) of all of them with the first of the copies kept: a text is a copy of the
/// first one with its words, or else of the oldest kept one whose sketch is near (for the default
/// method, enough of the minima of their [`minhash`](crate::minhash()) are equal; for another one, see
/// `simtool methods NAME`) and with which it shares at least 0.8 of its shingles of five words. The index stores the sketch and the set of
/// shingles of each text that is no copy, or a near one, and not the text. Texts with fewer than five
/// words are compared for equal words only; texts without words are stored, and nothing matches them.
///
/// ```
/// use simtool::{Index, Verdict, index::Evidence};
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
/// assert_eq!(answer.matches[0].evidence, Evidence::Words);
/// # Ok::<(), simtool::Error>(())
/// ```
pub struct Index {
    seen: Seen,
}

impl Index {
    /// Creates an empty index in `directory`, whose texts are compared by the method of `dedup`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if `directory` is inside an index, or is neither new nor empty;
    /// [`ErrorKind::Read`] if another process is creating it; [`ErrorKind::Write`].
    pub fn create(directory: impl AsRef<Path>) -> Result<Index> {
        Index::with_method(directory.as_ref(), None)
    }

    /// Creates an empty index whose texts are compared by `method`, as in `simtool index build
    /// --method`.
    ///
    /// # Errors
    /// Errors of [`create`](Self::create); [`ErrorKind::Parameter`] for an unknown method, and for
    /// one that needs statistics of a collection.
    pub fn create_with(directory: impl AsRef<Path>, method: &str) -> Result<Index> {
        Index::with_method(directory.as_ref(), Some(method))
    }

    fn with_method(directory: &Path, method: Option<&str>) -> Result<Index> {
        let input_settings = InputSettings {
            reading: Default::default(),
            tokenizer: Choice::default(),
            stop_words: builtin_stop_words(),
        };
        let spec = spec_of_new_index(method, input_settings.tokenizer, None)?;
        let settings = IndexSettings::without_collection(spec, &input_settings, None)?;
        let seen = Seen::create(directory, settings, Level::best(), &Options::default())?;
        Ok(Index { seen })
    }

    /// Opens the index in `directory`; its method and tokenizer are those that it was created with.
    ///
    /// # Errors
    /// * [`ErrorKind::Read`] if there is none, or if it is open already, in this process or another;
    /// * [`ErrorKind::Parameter`] if it was made through [`crate::index`];
    /// * [`ErrorKind::Content`] if it is damaged, or of a newer version;
    /// * [`ErrorKind::Write`] if it cannot be written.
    pub fn open(directory: impl AsRef<Path>) -> Result<Index> {
        let (expected, options) = (ExpectedSettings::default(), Options::default());
        let seen = Seen::open(directory.as_ref(), &expected, Level::best(), &options)?;
        Ok(Index { seen })
    }

    /// Compares a text with those in the index; changes nothing.
    ///
    /// The answer has at most ten matches: the text of which it is a copy, then others near it, the
    /// oldest first, each with the [evidence](crate::index::Match::evidence). The verdict is [`New`](crate::Verdict::New) or
    /// [`Duplicate`](crate::Verdict::Duplicate), and [`Empty`](crate::Verdict::Empty) for a text without features.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the index is found damaged, [`ErrorKind::Changed`] if one of its
    /// files was truncated while it was open.
    pub fn query(&self, text: impl AsRef<[u8]>) -> Result<Answer> {
        let mut texts = self.seen.texts();
        let query = texts.read(text.as_ref());
        self.seen
            .index()
            .seen(&[query.entry()], MATCHES)
            .and_then(only)
    }

    /// Compares a text with those in the index, and adds it under the name `id`, in one step.
    ///
    /// Every text is added, also a [`Duplicate`](crate::Verdict::Duplicate) and an
    /// [`Empty`](crate::Verdict::Empty) one, unless the verdict is [`Unchanged`](crate::Verdict::Unchanged): the
    /// index has this id with the same text. Another text of the same id is a further text
    /// ([`Changed`](crate::Verdict::Changed)). To keep only texts without a near one, use
    /// [`query`](Self::query) first, or [`remove`](Self::remove) afterwards.
    ///
    /// Durable when the function returns, so each call waits for the disk: for more than a few
    /// texts, [`add_all`](Self::add_all) is much faster.
    ///
    /// # Errors
    /// Errors of [`query`](Self::query); [`ErrorKind::Parameter`] for an empty id or one of more than
    /// 65 535 bytes, or a sketch of more than 256 MiB (some 30 million shingles);
    /// [`ErrorKind::Write`] if the text cannot be made durable. Nothing is added then.
    pub fn add(&self, id: impl AsRef<[u8]>, text: impl AsRef<[u8]>) -> Result<Answer> {
        let mut texts = self.seen.texts();
        let facts = texts.read(text.as_ref());
        let entry = Entry {
            id: id.as_ref(),
            ..facts.entry()
        };
        self.seen.index().add(&[entry], "", MATCHES).and_then(only)
    }

    /// Adds texts with their ids, in order, with the answers of [`add`](Self::add) to one after
    /// another: the second of two near texts finds the first.
    ///
    /// Texts are made durable in batches: one for every 65 536 texts, or 64 MiB of ids and
    /// sketches; a single [`add`](Self::add) waits for the disk each time. Sketches are made on one
    /// thread. Memory: a batch, and the answers, with up to ten ids each. For a long stream of texts, call
    /// it for some thousands at a time.
    ///
    /// ```
    /// use simtool::{Index, Verdict};
    ///
    /// # let temporary = tempfile::tempdir().unwrap();
    /// # let directory = temporary.path().join("seen");
    /// let index = Index::create(&directory)?;
    /// let text = "A cat sat on the mat while a dog slept in the sun behind the house by the sea";
    /// let answers = index.add_all([("a", text), ("b", text), ("a", text)])?;
    /// let verdicts: Vec<Verdict> = answers.iter().map(|answer| answer.verdict).collect();
    /// assert_eq!(verdicts, [Verdict::New, Verdict::Duplicate, Verdict::Unchanged]);
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`add`](Self::add). No text of that batch is added, but those of earlier batches
    /// are: to add all of them again finds these unchanged.
    pub fn add_all<I: AsRef<[u8]>, T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = (I, T)>,
    ) -> Result<Vec<Answer>> {
        self.add_in_batches(texts, GROUP_DOCUMENTS)
    }

    /// [`add_all`](Self::add_all) with at most `most` texts in a batch.
    fn add_in_batches<I: AsRef<[u8]>, T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = (I, T)>,
        most: usize,
    ) -> Result<Vec<Answer>> {
        let mut sketcher = self.seen.texts();
        let (mut answers, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (id, text) in texts {
            let facts = sketcher.read(text.as_ref()).to_owned();
            bytes += id.as_ref().len() + facts.sketch.len();
            batch.push((id, facts));
            if batch.len() >= most || bytes >= GROUP_BYTES {
                answers.extend(self.commit(&batch)?);
                batch.clear();
                bytes = 0;
            }
        }
        answers.extend(self.commit(&batch)?);
        Ok(answers)
    }

    /// Adds texts in one commit.
    fn commit<I: AsRef<[u8]>>(&self, batch: &[(I, TextFacts<Vec<u8>>)]) -> Result<Vec<Answer>> {
        let entries = batch.iter().map(|(id, facts)| Entry {
            id: id.as_ref(),
            ..facts.entry()
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        self.seen.index().add(&entries, "", MATCHES)
    }

    /// Removes the texts of the name `id`; `false` if there is none. Durable when it returns.
    ///
    /// # Errors
    /// Errors of [`query`](Self::query); [`ErrorKind::Write`] if the removal cannot be made durable.
    pub fn remove(&self, id: impl AsRef<[u8]>) -> Result<bool> {
        let removed = self.seen.index().remove(&[id.as_ref()])?;
        Ok(removed.first() == Some(&true))
    }

    /// The number of texts, also of those without words.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_do_not_depend_on_batches() {
        let words: Vec<String> = (0..60).map(|word| format!("w{word}")).collect();
        let text = |number: usize| (number % 30, words[number % 23..].join(" "));
        let texts: Vec<(String, String)> = (0..100)
            .map(text)
            .map(|(id, text)| (id.to_string(), text))
            .collect();
        let place = tempfile::tempdir().unwrap();
        let answers = [1, 7, 1000].map(|most| {
            let index = Index::create(place.path().join(most.to_string())).unwrap();
            let texts = texts.iter().map(|(id, text)| (id, text));
            index.add_in_batches(texts, most).unwrap()
        });
        assert_eq!(answers[0].len(), texts.len());
        assert!(answers[0].iter().any(|answer| answer.matches.len() > 1));
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0], answers[2]);
    }
}
