//! Queries for the documents of inputs.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use super::lines::AnswerLines;
use super::open_index::Seen;
use super::part::{LineSink, Part, read};
use crate::Result;
use simtool_engine::collection::Inputs;
use simtool_engine::doubts::Doubts;
use simtool_engine::{Stage, Workers};
use simtool_index::{Answer, Entry, Verdict};

/// A batch is queried as soon as it has this many documents, or bytes of documents. Large batches
/// are faster, since the index reads its tables or entries once for many queries.
const BATCH_DOCUMENTS: u64 = 1 << 17;
const BATCH_BYTES: usize = 16 << 20;
/// The same for the matches that a batch may have, as the id of each is in memory.
const MOST_MATCHES: u64 = 1 << 20;
/// The fewest chunks that a thread queries at a time.
const LEAST_PIECE: usize = 4;

/// Counts of queried documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryCounts {
    /// Documents that were queried.
    pub documents: u64,
    /// Of these, documents with a match.
    pub matched: u64,
    /// Documents that the index has with the same id and text.
    pub unchanged: u64,
    /// Documents whose id has another text in the index.
    pub changed: u64,
    /// Documents without features.
    pub empty: u64,
    /// Documents that could not be read.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
}

impl Seen {
    /// Queries the index for all documents of `inputs`. Passes a JSON line for each to `write`, in
    /// input order: its id, its place, the verdict, and at most `limit` matches: the document of which
    /// it is a copy, then others, the oldest first. Lines of skipped documents are passed to `skipped`.
    ///
    /// # Errors
    /// Errors of reading, of [`Index::seen`](simtool_index::Index::seen), and of writing lines.
    pub fn query_inputs(
        &self,
        inputs: Inputs<'_>,
        limit: usize,
        write: LineSink<'_>,
        skipped: LineSink<'_>,
    ) -> Result<QueryCounts> {
        let threads = inputs.resources.threads;
        let workers = Workers::new(threads)?;
        let mut asked = QueryCounts::default();
        let (mut waiting, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let mut answer = |parts: &mut Vec<Part>| -> Result<()> {
            let piece = parts.len().div_ceil(threads).max(LEAST_PIECE);
            let answers: Vec<Result<(QueryCounts, AnswerLines<'_>)>> = workers.install(|| {
                let pieces = parts.par_chunks(piece);
                pieces.map(|parts| self.ask(parts, limit)).collect()
            });
            answers.into_iter().try_for_each(|piece| {
                let (counts, lines) = piece?;
                asked.add(&counts);
                lines.write(write)
            })?;
            parts.clear();
            Ok(())
        };
        let texts = || self.texts();
        read(inputs, Stage::Sketch, None, texts, skipped, |part| {
            documents += part.len() as u64;
            bytes += part.bytes();
            waiting.push(part);
            let matches = documents.saturating_mul(limit as u64);
            if documents < BATCH_DOCUMENTS && bytes < BATCH_BYTES && matches < MOST_MATCHES {
                return Ok(());
            }
            (documents, bytes) = (0, 0);
            answer(&mut waiting)
        })?;
        answer(&mut waiting)?;
        Ok(asked)
    }

    fn ask<'a>(
        &'a self,
        parts: &'a [Part],
        limit: usize,
    ) -> Result<(QueryCounts, AnswerLines<'a>)> {
        let queries: Vec<Entry<'_>> = parts.iter().flat_map(Part::entries).collect();
        let answers = self.index().seen(&queries, limit)?;
        let mut asked = QueryCounts {
            skipped: parts.iter().map(|part| part.skipped).sum(),
            ..QueryCounts::default()
        };
        for part in parts {
            asked.doubts.add(&part.doubts);
        }
        answers.iter().for_each(|answer| asked.count(answer));
        let mut lines = AnswerLines::new(self, parts, answers, false);
        // The first lines are formatted in parallel; there are seldom more.
        lines.make()?;
        Ok((asked, lines))
    }
}

impl QueryCounts {
    fn count(&mut self, answer: &Answer) {
        self.documents += 1;
        self.matched += u64::from(!answer.matches.is_empty());
        self.unchanged += u64::from(answer.verdict == Verdict::Unchanged);
        self.changed += u64::from(matches!(answer.verdict, Verdict::Changed(_)));
        self.empty += u64::from(answer.verdict == Verdict::Empty);
    }

    fn add(&mut self, more: &QueryCounts) {
        self.documents += more.documents;
        self.matched += more.matched;
        self.unchanged += more.unchanged;
        self.changed += more.changed;
        self.empty += more.empty;
        self.skipped += more.skipped;
        self.doubts.add(&more.doubts);
    }
}
