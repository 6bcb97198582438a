//! Documents of inputs, asked of an index.

use super::{Seen, Texts};
use crate::Result;
use crate::corpus::{Chunk, Parsed, Parser, Place, Source};
use crate::index::{Answer, Query, Verdict};
use crate::report::json_lines::At;
use crate::report::verdicts::{Line, Near, Nearness, base64_if_needed};
use crate::run::Stage;
use crate::run::collection::Inputs;
use crate::run::naming::name;
use crate::run::pipeline::Event;

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
        let mut asked = Asked::default();
        let start = || (Parser::new(&inputs.manner.reading), self.texts());
        let work = |(parser, texts): &mut (Parser, Texts<'_>), chunk: &Chunk| {
            let source = inputs.pipeline().source(chunk.source)?;
            let mut part = Part::read(source, chunk, parser, texts);
            let lines = part.ask(self, source, limit)?;
            Ok((lines, part.asked))
        };
        // Units are written one behind another, so later ones wait in memory for the first.
        for unit in inputs.units() {
            inputs.pipeline().run(&[unit], start, work, |_, event| {
                let Event::Chunk { result, .. } = event else {
                    return Ok(());
                };
                let (lines, counts) = result;
                asked.documents += counts.documents;
                asked.matched += counts.matched;
                asked.unchanged += counts.unchanged;
                asked.changed += counts.changed;
                asked.empty += counts.empty;
                asked.skipped += counts.skipped;
                write(&lines)
            })?;
        }
        inputs.progress.end(inputs.bytes());
        Ok(asked)
    }
}

impl Part {
    fn read(source: &Source, chunk: &Chunk, parser: &mut Parser, texts: &mut Texts<'_>) -> Part {
        let mut part = Part::default();
        parser.for_each(
            source.format,
            chunk,
            &|_| true,
            &mut |_, parsed| match parsed {
                Parsed::Document(document) => {
                    let sketch = texts.sketch(document.text);
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

    /// The lines.
    fn ask(&mut self, seen: &Seen, source: &Source, limit: usize) -> Result<Vec<u8>> {
        let queries = self.ids.iter().zip(&self.sketches);
        let queries: Vec<Query<'_>> = queries
            .map(|(id, sketch)| Query {
                id: Some(id),
                sketch,
            })
            .collect();
        let answers = seen.index().seen(&queries, limit)?;
        let file = source.path.to_string_lossy();
        let mut lines = Vec::new();
        for ((id, place), answer) in self.ids.iter().zip(&self.places).zip(&answers) {
            self.asked.documents += 1;
            self.asked.matched += u64::from(!answer.matches.is_empty());
            self.asked.unchanged += u64::from(answer.verdict == Verdict::Unchanged);
            self.asked.changed += u64::from(matches!(answer.verdict, Verdict::Changed(_)));
            Line {
                id: String::from_utf8_lossy(id),
                id_base64: base64_if_needed(id),
                at: At::new(&file, *place),
                verdict: answer.verdict.name(),
                changed: changed(&answer.verdict, seen.has_likeness()),
                matches: near(answer, seen.has_likeness()),
            }
            .write(&mut lines);
        }
        Ok(lines)
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
