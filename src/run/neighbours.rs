//! Which documents of one collection is each document of another one near?
//!
//! `simtool N M` is the special form of this for two text files and one fingerprint.

use super::collection::{Collection, Inputs, Member};
use super::pipeline::Event;
use super::sketcher::{Sketched, Sketcher};
use super::{Stage, Workers};
use crate::Result;
use crate::corpus::{Chunk, Parser};
use crate::report::json_lines::{self, At, Near};
use crate::search::join::{Scratch, SketchIndex};
use crate::sketch::registry::Spec;
use crate::sketch::{Method, Score, SketchList};

/// Counts of a finished run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Documents that were searched.
    pub articles: u64,
    /// Documents that were looked for.
    pub samples: u64,
    /// Of these, how many have a neighbour.
    pub matched: u64,
    /// Pairs.
    pub matches: u64,
    /// Documents of either side that could not be read.
    pub skipped: u64,
    /// Documents of either side without anything to sketch.
    pub empty: u64,
}

/// Finds, for each document of `samples`, what `articles` has near it; hands a JSON line for each,
/// in input order, to `write`: its id, its place, and its neighbours, nearest first, those as near
/// in input order. What the method has to know of the collection is counted in the articles.
///
/// Exact for methods whose definition is a threshold; others miss what their recall says. Sketches
/// and ids of the articles are in memory. Deterministic, whatever the resources.
///
/// # Errors
/// Those of reading, of memory, and of `write`.
pub fn neighbours(
    spec: &Spec,
    articles: Inputs<'_>,
    samples: Inputs<'_>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Summary> {
    let methods = articles.methods(std::slice::from_ref(spec))?;
    let method = &*methods[0];
    let known = articles.collect(&methods)?;
    let (usable, list) = usable(method, &known.sketched[0]);
    let workers = Workers::new(articles.resources.threads)?;
    let index = workers.install(|| {
        let memory = usize::try_from(articles.resources.memory_bytes).unwrap_or(usize::MAX);
        SketchIndex::build(method, list.all(method), memory, articles.resources.level)
    })?;
    let searched = Searched {
        inputs: articles,
        known: &known,
        usable: &usable,
        index: &index,
    };
    let mut summary = Summary {
        articles: known.members.len() as u64,
        skipped: known.skipped.len() as u64,
        empty: (known.members.len() - usable.len()) as u64,
        ..Summary::default()
    };
    samples.progress.begin(Stage::Sketch, samples.bytes());
    let start = || Searcher {
        parser: Parser::new(&samples.manner.reading),
        sketcher: Sketcher::new(&methods, samples.common()),
        scratch: Scratch::default(),
    };
    let work = |searcher: &mut Searcher<'_>, chunk: &Chunk| {
        let part = samples.part(&mut searcher.parser, &mut searcher.sketcher, chunk)?;
        searched.lines(&part, &samples, &mut searcher.scratch)
    };
    // Units are written one behind another, so later ones wait in memory for the first.
    for unit in samples.units() {
        samples.pipeline().run(&[unit], start, work, |_, event| {
            let Event::Chunk { result, .. } = event else {
                return Ok(());
            };
            let (lines, counts) = result;
            summary.samples += counts.samples;
            summary.matched += counts.matched;
            summary.matches += counts.matches;
            summary.skipped += counts.skipped;
            summary.empty += counts.empty;
            write(&lines)
        })?;
    }
    samples.progress.end(samples.bytes());
    Ok(summary)
}

/// The numbers of the documents that have something to match, and their sketches.
pub(super) fn usable(method: &dyn Method, sketched: &Sketched) -> (Vec<u32>, SketchList) {
    let all = sketched.sketches.all(method);
    let mut list = SketchList::new(method);
    let numbers = (0..all.count() as u32).filter(|&number| sketched.usable[number as usize]);
    let numbers: Vec<u32> = numbers.collect();
    numbers
        .iter()
        .for_each(|&number| list.push(all.get(number as usize)));
    (numbers, list)
}

struct Searcher<'a> {
    parser: Parser,
    sketcher: Sketcher<'a>,
    scratch: Scratch,
}

/// The collection that is searched.
struct Searched<'a> {
    inputs: Inputs<'a>,
    known: &'a Collection,
    usable: &'a [u32],
    index: &'a SketchIndex<'a>,
}

impl Searched<'_> {
    /// The lines of some samples, and their counts.
    fn lines(
        &self,
        samples: &Collection,
        inputs: &Inputs<'_>,
        scratch: &mut Scratch,
    ) -> Result<(Vec<u8>, Summary)> {
        let (mut lines, mut near) = (Vec::new(), Vec::new());
        let mut counts = Summary {
            samples: samples.members.len() as u64,
            skipped: samples.skipped.len() as u64,
            ..Summary::default()
        };
        let sketched = &samples.sketched[0];
        let sketches = sketched.sketches.all(self.index.method());
        for (number, sample) in samples.members.iter().enumerate() {
            near.clear();
            match sketched.usable[number] {
                true => {
                    let all = 0..self.index.count();
                    self.index
                        .near(sketches.get(number), all, scratch, &mut near);
                    near.sort_by_key(|&(position, score)| (score, position));
                }
                false => counts.empty += 1,
            }
            counts.matched += u64::from(!near.is_empty());
            counts.matches += near.len() as u64;
            self.line(inputs, sample, &near, &mut lines)?;
        }
        Ok((lines, counts))
    }

    fn line(
        &self,
        inputs: &Inputs<'_>,
        sample: &Member,
        near: &[(u32, Score)],
        lines: &mut Vec<u8>,
    ) -> Result<()> {
        let file = |inputs: &Inputs<'_>, member: &Member| -> Result<String> {
            let source = inputs.pipeline().source(member.place.source)?;
            Ok(source.path.to_string_lossy().into_owned())
        };
        let articles = near.iter().map(|&(position, score)| {
            let number = self.usable[position as usize];
            (&self.known.members[number as usize], score)
        });
        let files: Vec<String> = articles
            .clone()
            .map(|(article, _)| file(&self.inputs, article))
            .collect::<Result<_>>()?;
        let matches = articles.zip(&files).map(|((article, score), file)| Near {
            id: &article.id,
            score,
            at: At::new(file, article.place),
        });
        let at = file(inputs, sample)?;
        json_lines::neighbours(&sample.id, At::new(&at, sample.place), matches, lines);
        Ok(())
    }
}
