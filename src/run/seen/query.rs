//! Documents of inputs, asked of an index.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use super::lines::Lines;
use super::part::{Part, read};
use super::{Seen, Take};
use crate::Result;
use crate::index::{Answer, Query, Verdict};
use crate::run::collection::Inputs;
use crate::run::doubts::Doubts;
use crate::run::{Stage, Workers};

/// Documents that are asked at a time, so many or so many bytes: an index puts many questions into
/// the order of its tables, or goes through all of it once.
const ASKED: u64 = 1 << 17;
const ASKED_BYTES: usize = 16 << 20;
/// Matches that all of them may have: each has an id in memory.
const MOST_MATCHES: u64 = 1 << 20;
/// The fewest chunks that a thread asks at a time.
const LEAST_PIECE: usize = 4;

/// Counts of what was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Documents that were asked.
    pub documents: u64,
    /// Of these, those with a document near them.
    pub matched: u64,
    /// Documents that were there.
    pub unchanged: u64,
    /// Documents whose id was there with another sketch.
    pub changed: u64,
    /// Documents without anything to compare.
    pub empty: u64,
    /// Documents that could not be read.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
}

impl Seen {
    /// Asks for all documents of `inputs`; hands a JSON line for each, in input order, to `write`:
    /// its id, its place, the verdict, and at most `limit` matches, nearest first. Lines of skipped
    /// documents go to `skipped`.
    ///
    /// # Errors
    /// Those of reading, of [`Index::seen`](crate::index::Index::seen), and of writing lines.
    pub fn query_inputs(
        &self,
        inputs: Inputs<'_>,
        limit: usize,
        write: Take<'_>,
        skipped: Take<'_>,
    ) -> Result<Asked> {
        let threads = inputs.resources.threads;
        let workers = Workers::new(threads)?;
        let mut asked = Asked::default();
        let (mut waiting, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let mut answer = |parts: &mut Vec<Part>| -> Result<()> {
            let piece = parts.len().div_ceil(threads).max(LEAST_PIECE);
            let answers: Vec<Result<(Asked, Lines<'_>)>> = workers.install(|| {
                let pieces = parts.par_chunks_mut(piece);
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
        read(inputs, Stage::Search, None, texts, skipped, |part| {
            documents += part.len() as u64;
            bytes += part.bytes();
            waiting.push(part);
            let matches = documents.saturating_mul(limit as u64);
            if documents < ASKED && bytes < ASKED_BYTES && matches < MOST_MATCHES {
                return Ok(());
            }
            (documents, bytes) = (0, 0);
            answer(&mut waiting)
        })?;
        answer(&mut waiting)?;
        Ok(asked)
    }

    fn ask<'a>(&'a self, parts: &'a mut [Part], limit: usize) -> Result<(Asked, Lines<'a>)> {
        for part in &mut *parts {
            part.settle_ids(self.index())?;
        }
        let parts = &*parts;
        let entries = parts.iter().flat_map(Part::entries);
        let queries: Vec<Query<'_>> = entries
            .map(|entry| Query {
                id: Some(entry.id),
                sketch: entry.sketch,
            })
            .collect();
        let answers = self.index().seen(&queries, limit)?;
        let mut asked = Asked {
            skipped: parts.iter().map(|part| part.skipped).sum(),
            ..Asked::default()
        };
        for part in parts {
            asked.doubts.add(&part.doubts);
        }
        for (query, answer) in queries.iter().zip(&answers) {
            asked.count(query, answer);
        }
        let mut lines = Lines::new(self, parts, answers, false);
        // The first ones while others do the same; there are seldom more.
        lines.make()?;
        Ok((asked, lines))
    }
}

impl Asked {
    fn count(&mut self, query: &Query<'_>, answer: &Answer) {
        self.documents += 1;
        self.matched += u64::from(!answer.matches.is_empty());
        self.unchanged += u64::from(answer.verdict == Verdict::Unchanged);
        self.changed += u64::from(matches!(answer.verdict, Verdict::Changed(_)));
        self.empty += u64::from(query.sketch.is_empty());
    }

    fn add(&mut self, more: &Asked) {
        self.documents += more.documents;
        self.matched += more.matched;
        self.unchanged += more.unchanged;
        self.changed += more.changed;
        self.empty += more.empty;
        self.skipped += more.skipped;
        self.doubts.add(&more.doubts);
    }
}
