//! Which documents of one collection is each document of another one near?
//!
//! `simtool N M` is the special form of this for two text files and one fingerprint.

use super::collection::{Collection, Inputs, Member};
use super::doubts::Doubts;
use super::held::Held;
use super::pipeline::Event;
use super::sketcher::{Sketched, Sketcher};
use super::{Stage, Workers};
use crate::corpus::{Chunk, Parser};
use crate::kernel::Level;
use crate::report::json_lines::{self, At, Neighbour};
use crate::search::join::{self, Scratch, SketchIndex};
use crate::sketch::registry::Spec;
use crate::sketch::{Method, Score, SketchList};
use crate::{ErrorKind, Result};

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
    /// Articles whose characters may be wrong.
    pub article_doubts: Doubts,
    /// Samples whose characters may be wrong.
    pub sample_doubts: Doubts,
}

/// Finds, for each document of `samples`, what `articles` has near it; hands a JSON line for each,
/// in input order, to `write`: its id, its place, and its neighbours, nearest first, those as near
/// in input order. What the method has to know of the collection is counted in the articles.
///
/// Exact for methods whose definition is a threshold; others miss what their recall says. Sketches
/// and ids of the articles, and an index over them, are in memory, and within its bound: three
/// quarters of what is left beside ids and sketches are for the index, the rest for samples and
/// their lines. Deterministic, whatever the resources.
///
/// # Errors
/// Those of reading and of `write`; [`Memory`](crate::ErrorKind::Memory) if the articles, or what
/// is near a chunk of samples, do not fit.
pub fn neighbours(
    spec: &Spec,
    articles: Inputs<'_>,
    samples: Inputs<'_>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Summary> {
    let methods = articles.methods(std::slice::from_ref(spec))?;
    let method = &*methods[0];
    let held = articles.held()?;
    let mut known = articles.collect(&methods, &held)?;
    let (usable, list) = usable(method, std::mem::take(&mut known.sketched[0]), &held)?;
    let workers = Workers::new(articles.resources.threads)?;
    let index = workers.install(|| index(method, &list, &held, articles.resources.level))?;
    let names = |inputs: &Inputs<'_>| -> Vec<String> {
        let paths = inputs
            .sources
            .iter()
            .map(|source| source.path.to_string_lossy());
        paths.map(|path| path.into_owned()).collect()
    };
    let searched = Searched {
        files: [names(&articles), names(&samples)],
        held: &held,
        known: &known,
        usable: &usable,
        index: &index,
    };
    let mut summary = Summary {
        articles: known.members.len() as u64,
        skipped: known.skipped.len() as u64,
        empty: (known.members.len() - usable.len()) as u64,
        article_doubts: known.doubts,
        ..Summary::default()
    };
    samples.progress.begin(Stage::Sketch, samples.bytes());
    let start = || Searcher {
        parser: Parser::new(&samples.manner.reading),
        sketcher: Sketcher::new(&methods, samples.common()),
        scratch: Scratch::default(),
    };
    let work = |searcher: &mut Searcher<'_>, chunk: &Chunk| {
        let part = samples.part(&mut searcher.parser, &mut searcher.sketcher, chunk, &held)?;
        let made = searched.lines(&part, &mut searcher.scratch);
        held.give(part.bytes());
        made
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
            summary.sample_doubts.add(&counts.sample_doubts);
            held.give(lines.len());
            write(&lines)
        })?;
    }
    samples.progress.end(samples.bytes());
    Ok(summary)
}

/// The numbers of the documents that have something to match, and their sketches.
///
/// # Errors
/// [`Memory`](crate::ErrorKind::Memory) if the numbers do not fit.
pub(super) fn usable(
    method: &dyn Method,
    sketched: Sketched,
    held: &Held,
) -> Result<(Vec<u32>, SketchList)> {
    let Sketched {
        sketches: mut list,
        usable,
        ..
    } = sketched;
    held.take(size_of::<u32>() * usable.len(), INDEX)?;
    let numbers = (0..).zip(&usable).filter(|(_, usable)| **usable);
    let numbers: Vec<u32> = numbers.map(|(number, _)| number).collect();
    if numbers.len() < usable.len() {
        list.retain(method, |position| usable[position]);
    }
    Ok((numbers, list))
}

/// An index in three quarters of the memory that is left, which is then taken for it.
///
/// # Errors
/// Those of building it; [`Memory`](crate::ErrorKind::Memory) if it does not fit.
pub(super) fn index<'a>(
    method: &'a dyn Method,
    list: &'a SketchList,
    held: &Held,
    level: Level,
) -> Result<SketchIndex<'a>> {
    let sketches = list.all(method);
    let memory = usize::try_from(held.free() / 4 * 3).unwrap_or(usize::MAX);
    // With less, it would take more than it may.
    held.take(SketchIndex::least_bytes(method, sketches.count()), INDEX)?;
    held.give(SketchIndex::least_bytes(method, sketches.count()));
    let index = SketchIndex::build(method, sketches, memory, level);
    let index = index.map_err(|error| match error.kind() {
        ErrorKind::Memory => held.exceeded(memory as u64, INDEX),
        _ => error,
    })?;
    held.take(index.bytes(), INDEX)?;
    Ok(index)
}

/// What an index is, in messages.
const INDEX: &str = "indices of sketches";
/// What is near some samples.
const MATCHES: &str = "the matches of some samples";
/// Candidates of one answer, so that what is found is counted on the way.
const CANDIDATES: usize = 1 << 16;

struct Searcher<'a> {
    parser: Parser,
    sketcher: Sketcher<'a>,
    scratch: Scratch,
}

/// The collection that is searched.
struct Searched<'a> {
    /// The files of the articles and of the samples.
    files: [Vec<String>; 2],
    held: &'a Held,
    known: &'a Collection,
    usable: &'a [u32],
    index: &'a SketchIndex<'a>,
}

impl Searched<'_> {
    /// The lines of some samples, which are taken from the memory, and their counts.
    fn lines(&self, samples: &Collection, scratch: &mut Scratch) -> Result<(Vec<u8>, Summary)> {
        let (mut lines, mut near) = (Vec::new(), Vec::new());
        let mut counts = Summary {
            samples: samples.members.len() as u64,
            skipped: samples.skipped.len() as u64,
            sample_doubts: samples.doubts,
            ..Summary::default()
        };
        let sketched = &samples.sketched[0];
        let sketches = sketched.sketches.all(self.index.method());
        for (number, sample) in samples.members.iter().enumerate() {
            near.clear();
            match sketched.usable[number] {
                true => self.near(sketches.get(number), scratch, &mut near)?,
                false => counts.empty += 1,
            }
            near.sort_unstable_by_key(|&(position, score)| (score, position));
            counts.matched += u64::from(!near.is_empty());
            counts.matches += near.len() as u64;
            let before = lines.len();
            self.line(sample, &near, &mut lines);
            self.held.take(lines.len() - before, MATCHES)?;
            self.held.give(size_of_val(near.as_slice()));
        }
        Ok((lines, counts))
    }

    /// Appends what is near a sketch to `near`, and takes the memory of it.
    fn near(
        &self,
        sketch: &[u8],
        scratch: &mut Scratch,
        near: &mut Vec<(u32, Score)>,
    ) -> Result<()> {
        let (mut start, end) = (0, self.index.count());
        while start < end {
            let query = join::NearQuery {
                sketch,
                within: start..end,
                limit: CANDIDATES,
            };
            let mut taken = Ok(());
            self.index.near_batch(&[query], scratch, |_, found, next| {
                taken = self.held.take(size_of_val(found), MATCHES);
                if taken.is_ok() {
                    near.extend_from_slice(found);
                }
                start = next;
            });
            taken?;
        }
        Ok(())
    }

    fn line(&self, sample: &Member, near: &[(u32, Score)], lines: &mut Vec<u8>) {
        let [articles, samples] = &self.files;
        let matches = near.iter().map(|&(position, score)| {
            let number = self.usable[position as usize];
            let article = &self.known.members[number as usize];
            Neighbour {
                id: &article.id,
                score,
                at: At::new(&articles[article.place.source as usize], article.place),
            }
        });
        let at = At::new(&samples[sample.place.source as usize], sample.place);
        json_lines::neighbours(&sample.id, at, matches, lines);
    }
}
