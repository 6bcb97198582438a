//! Answers of an index about documents, as JSON Lines.

use super::open_index::Seen;
use super::part::Part;
use crate::Result;
use simtool_core::sketch::{Compare, Score, Shape};
use simtool_corpus::Place;
use simtool_index::{Answer, Document, Entry, Evidence, Match, Verdict};
use simtool_report::json_lines::At;
use simtool_report::verdicts::{
    Digits, Known, KnownMatch, Line, NearnessFields, Replaced, SeenCount, base64_if_needed,
};

/// Bytes of lines that are formatted at a time, as payloads may be long.
const STEP_BYTES: usize = 8 << 20;

/// Formats the lines of documents and their answers, some megabytes at a time.
pub(super) struct AnswerLines<'a> {
    seen: &'a Seen,
    /// Whether the documents were to be added.
    adding: bool,
    documents: Box<dyn Iterator<Item = Answered<'a>> + Send + 'a>,
    lines: Vec<u8>,
}

/// A document of a part, and its answer.
type Answered<'a> = ((&'a Part, (Entry<'a>, Place, bool)), Answer);

impl<'a> AnswerLines<'a> {
    /// The lines of all documents of `parts`.
    pub fn new(
        seen: &'a Seen,
        parts: &'a [Part],
        answers: Vec<Answer>,
        adding: bool,
    ) -> AnswerLines<'a> {
        let documents = parts
            .iter()
            .flat_map(|part| part.documents().map(move |document| (part, document)));
        AnswerLines {
            seen,
            adding,
            documents: Box::new(documents.zip(answers)),
            lines: Vec::new(),
        }
    }

    /// Formats the next lines, until some megabytes wait to be written or no document is left.
    ///
    /// # Errors
    /// Errors of reading payloads.
    pub fn make(&mut self) -> Result<()> {
        while self.lines.len() < STEP_BYTES
            && let Some(((part, (entry, place, too_short)), answer)) = self.documents.next()
        {
            let likeness = self.seen.has_likeness();
            Line {
                id: String::from_utf8_lossy(entry.id),
                id_base64: base64_if_needed(entry.id),
                at: At::new(&part.file, place),
                verdict: answer.verdict.name(),
                kept: answer.kept,
                too_short,
                changed: changed(&answer.verdict, likeness),
                added: self.adding.then_some(answer.added),
                matches: self.seen.near(&answer)?,
                before: before(self.seen, &answer),
                replaces: answer.replaces.as_deref().map(Replaced::new),
            }
            .write(&mut self.lines);
        }
        Ok(())
    }

    /// Passes all lines to `write`.
    ///
    /// # Errors
    /// Errors of [`make`](Self::make) and `write`.
    pub fn write(mut self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        loop {
            self.make()?;
            if self.lines.is_empty() {
                return Ok(());
            }
            write(&self.lines)?;
            self.lines.clear();
        }
    }
}

impl Seen {
    /// A document of the index as JSON.
    pub fn known<'a>(&self, document: &'a Document) -> Known<'a> {
        let fingerprint = self.digits(&document.sketch);
        Known::new(&document.id, fingerprint, &document.payload)
    }

    /// A sketch as JSON.
    pub fn digits<'a>(&self, sketch: &'a [u8]) -> Digits<'a> {
        let is_number = matches!(self.method().shape(), Shape::Bits { .. });
        let (sketch, _) = self.method().split(sketch);
        Digits { sketch, is_number }
    }

    /// The matches of an answer as JSON, with their payloads.
    ///
    /// # Errors
    /// Errors of reading payloads.
    pub fn near(&self, answer: &Answer) -> Result<Vec<KnownMatch>> {
        let mut all = near(self, answer);
        let view = self.index().view();
        for (near, found) in all.iter_mut().zip(&answer.matches) {
            // Several documents may have the id; numbers change only if a dump is removed.
            let record = view.get(found.ordinal)?;
            if let Some(record) = record.filter(|record| record.entry.id == found.id) {
                near.set_payload(record.entry.payload);
            }
        }
        Ok(all)
    }
}

/// How much a document has changed, as JSON.
pub fn changed(verdict: &Verdict, likeness: bool) -> Option<NearnessFields> {
    match verdict {
        Verdict::Changed(score) => score.map(|score| NearnessFields::new(score, likeness)),
        _ => None,
    }
}

/// The matches of an answer, as JSON.
pub fn near(seen: &Seen, answer: &Answer) -> Vec<KnownMatch> {
    let likeness = seen.has_likeness();
    let near = answer.matches.iter().map(|found| {
        let score = score(found);
        let similarity = seen.similarity(found);
        let is_estimated = score.is_some() && seen.settings().estimates();
        KnownMatch::new(&found.id, (score, likeness), similarity, is_estimated)
    });
    near.collect()
}

/// How often the text of the first match was seen before, as JSON.
pub fn before(seen: &Seen, answer: &Answer) -> Option<SeenCount> {
    let before = answer.before?;
    let view = seen.index().view();
    let label = |dump: u32| view.dumps().get(dump as usize).cloned().unwrap_or_default();
    Some(SeenCount {
        seen_times: before.times,
        first_dump: label(before.first_dump),
        last_dump: label(before.last_dump),
    })
}

/// The score of the sketches of a match; `None` if their words are equal.
pub(super) fn score(found: &Match) -> Option<Score> {
    match found.evidence {
        Evidence::Near { score, .. } => Some(score),
        Evidence::Text | Evidence::Words => None,
    }
}
