//! Documents of inputs, asked of an index.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use super::{Seen, Texts};
use crate::Result;
use crate::corpus::{Chunk, Parsed, Parser, Place, Source};
use crate::index::{Answer, Query, Verdict};
use crate::report::json_lines::At;
use crate::report::verdicts::{Line, Near, Nearness, base64_if_needed};
use crate::run::collection::Inputs;
use crate::run::naming::name;
use crate::run::pipeline::Event;
use crate::run::{Stage, Workers};

/// Documents that are asked at a time, so many or so many bytes: an index puts many questions into
/// the order of its tables, or goes through all of it once.
const ASKED: u64 = 1 << 17;
const ASKED_BYTES: usize = 16 << 20;
/// Matches that all of them may have: each has an id and a line in memory.
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
}

/// Documents of a chunk.
#[derive(Default)]
struct Part {
    source: u32,
    ids: Vec<Vec<u8>>,
    places: Vec<Place>,
    sketches: Vec<Vec<u8>>,
    asked: Asked,
}

impl Seen {
    /// Asks for all documents of `inputs`; hands a JSON line for each, in input order, to `write`:
    /// its id, its place, the verdict, and at most `limit` matches, nearest first.
    ///
    /// # Errors
    /// Those of reading, of [`Index::seen`](crate::index::Index::seen), and of `write`.
    pub fn query_inputs(
        &self,
        inputs: Inputs<'_>,
        limit: usize,
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Asked> {
        inputs.progress.begin(Stage::Search, inputs.bytes());
        let workers = Workers::new(inputs.resources.threads)?;
        let mut asked = Asked::default();
        let (mut waiting, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let start = || (Parser::new(&inputs.manner.reading), self.texts());
        let work = |(parser, texts): &mut (Parser, Texts<'_>), chunk: &Chunk| {
            let source = inputs.pipeline().source(chunk.source)?;
            Ok(Part::read(source, chunk, parser, texts))
        };
        let mut answer = |parts: &mut Vec<Part>| -> Result<()> {
            let piece = parts
                .len()
                .div_ceil(inputs.resources.threads)
                .max(LEAST_PIECE);
            let answers: Vec<Result<Answers>> = workers.install(|| {
                let pieces = parts.par_chunks(piece);
                pieces.map(|parts| self.ask(parts, inputs, limit)).collect()
            });
            parts.clear();
            answers.into_iter().try_for_each(|piece| {
                let piece = piece?;
                asked.add(&piece.asked);
                write(&piece.lines)
            })
        };
        // Units are written one behind another, so later ones wait in memory for the first.
        for unit in inputs.units() {
            inputs.pipeline().run(&[unit], start, work, |_, event| {
                if let Event::Chunk { result: part, .. } = event {
                    documents += part.asked.documents;
                    bytes += part.bytes();
                    waiting.push(part);
                }
                let matches = documents.saturating_mul(limit as u64);
                if documents < ASKED && bytes < ASKED_BYTES && matches < MOST_MATCHES {
                    return Ok(());
                }
                (documents, bytes) = (0, 0);
                answer(&mut waiting)
            })?;
        }
        answer(&mut waiting)?;
        inputs.progress.end(inputs.bytes());
        Ok(asked)
    }
}

impl Part {
    fn read(source: &Source, chunk: &Chunk, parser: &mut Parser, texts: &mut Texts<'_>) -> Part {
        let mut part = Part {
            source: chunk.source,
            ..Part::default()
        };
        parser.for_each(
            source.format,
            chunk,
            &|_| true,
            &mut |_, parsed| match parsed {
                Parsed::Document(document) => {
                    let sketch = texts.sketch(document.text);
                    part.asked.documents += 1;
                    part.asked.empty += u64::from(sketch.is_none());
                    part.sketches.push(sketch.unwrap_or_default().to_vec());
                    part.ids.push(name(source, document.id, document.place));
                    part.places.push(document.place);
                }
                Parsed::Skipped(_) => part.asked.skipped += 1,
                Parsed::Unwanted => {}
            },
        );
        part
    }

    /// What it holds in memory, about.
    fn bytes(&self) -> usize {
        let held = self.ids.iter().chain(&self.sketches);
        held.map(|held| held.len() + size_of::<Vec<u8>>()).sum()
    }
}

/// What some parts were answered.
struct Answers {
    lines: Vec<u8>,
    asked: Asked,
}

impl Seen {
    fn ask(&self, parts: &[Part], inputs: Inputs<'_>, limit: usize) -> Result<Answers> {
        let queries: Vec<Query<'_>> = parts
            .iter()
            .flat_map(|part| part.ids.iter().zip(&part.sketches))
            .map(|(id, sketch)| Query {
                id: Some(id),
                sketch,
            })
            .collect();
        let mut answers = self.index().seen(&queries, limit)?.into_iter();
        let mut all = Answers {
            lines: Vec::new(),
            asked: Asked::default(),
        };
        for part in parts {
            let source = inputs.pipeline().source(part.source)?;
            let file = source.path.to_string_lossy();
            all.asked.add(&part.asked);
            let documents = part.ids.iter().zip(&part.places);
            for ((id, place), answer) in documents.zip(&mut answers) {
                all.asked.matched += u64::from(!answer.matches.is_empty());
                all.asked.unchanged += u64::from(answer.verdict == Verdict::Unchanged);
                all.asked.changed += u64::from(matches!(answer.verdict, Verdict::Changed(_)));
                Line {
                    id: String::from_utf8_lossy(id),
                    id_base64: base64_if_needed(id),
                    at: At::new(&file, *place),
                    verdict: answer.verdict.name(),
                    changed: changed(&answer.verdict, self.has_likeness()),
                    matches: near(&answer, self.has_likeness()),
                }
                .write(&mut all.lines);
            }
        }
        Ok(all)
    }
}

impl Asked {
    fn add(&mut self, more: &Asked) {
        self.documents += more.documents;
        self.matched += more.matched;
        self.unchanged += more.unchanged;
        self.changed += more.changed;
        self.empty += more.empty;
        self.skipped += more.skipped;
    }
}

/// How far a document has changed, as JSON has it.
pub fn changed(verdict: &Verdict, likeness: bool) -> Option<Nearness> {
    match verdict {
        Verdict::Changed(score) => score.map(|score| Nearness::new(score, likeness)),
        _ => None,
    }
}

/// The documents near one, as JSON has them.
pub fn near(answer: &Answer, likeness: bool) -> Vec<Near> {
    let near = answer.matches.iter();
    near.map(|found| Near::new(&found.id, found.score, likeness))
        .collect()
}
