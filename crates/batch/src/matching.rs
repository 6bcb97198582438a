//! Matching of two collections: the documents of one near each document of the other.
//!
//! `simtool N M` is a special case with its own implementation: [`main_job`](super::main_job).

use crate::{ErrorKind, Result};
use simtool_core::kernel::Level;
use simtool_core::search::join::{self, Scratch, SketchIndex};
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Score, SketchList};
use simtool_engine::collection::{Collection, Inputs, Member};
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::doubts::Doubts;
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::{Sketched, Sketcher};
use simtool_engine::{Progress, Stage, Workers};
use simtool_report::json_lines::{self, At, Neighbour};

/// Counts of a finished run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// Documents that were searched.
    pub articles: u64,
    /// Documents that were searched for.
    pub samples: u64,
    /// Samples with a neighbour.
    pub matched: u64,
    /// Matching pairs of a sample and an article.
    pub matches: u64,
    /// Documents of either side that could not be read.
    pub skipped: u64,
    /// Documents of either side without features.
    pub empty: u64,
    /// Articles whose characters may be wrong.
    pub article_doubts: Doubts,
    /// Samples whose characters may be wrong.
    pub sample_doubts: Doubts,
}

/// Finds the documents of `articles` near each document of `samples`. Passes a JSON line for each
/// sample to `write`, in input order: its id, its place, and its neighbours. The nearest neighbours
/// come first, equally near ones in input order. Corpus statistics are counted in the articles.
///
/// Exact for methods whose definition is a threshold; others miss pairs as their recall allows.
/// Sketches and ids of the articles, and an index, are held within the memory bound. The index gets
/// at most three quarters of the memory besides ids and sketches; samples and their lines get the
/// rest. The result does not depend on resources.
///
/// # Errors
/// Errors of building the method, of reading and of `write`; [`Memory`](crate::ErrorKind::Memory) if
/// the articles, or the matches of a chunk of samples, do not fit.
pub fn find_matches(
    spec: &Spec,
    articles: Inputs<'_>,
    samples: Inputs<'_>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<MatchCounts> {
    let methods = articles.methods(std::slice::from_ref(spec))?;
    let method = &*methods[0];
    let account = articles.memory_account()?;
    let mut known = articles.collect(&methods, &account)?;
    articles.progress.begin(Stage::Gather, 0);
    let (usable, list) = usable(method, std::mem::take(&mut known.sketched[0]), &account)?;
    let workers = Workers::new(articles.resources.threads)?;
    let (level, progress) = (articles.resources.level, articles.progress);
    let index = workers.install(|| index(method, &list, &account, level, progress))?;
    progress.end(0);
    let names = |inputs: &Inputs<'_>| -> Vec<String> {
        let paths = inputs
            .sources
            .iter()
            .map(|source| source.path.to_string_lossy());
        paths.map(|path| path.into_owned()).collect()
    };
    let searched = Searched {
        files: [names(&articles), names(&samples)],
        account: &account,
        known: &known,
        usable: &usable,
        index: &index,
    };
    let mut summary = MatchCounts {
        articles: known.members.len() as u64,
        skipped: known.skipped.len() as u64,
        empty: (known.members.len() - usable.len()) as u64,
        article_doubts: known.doubts,
        ..MatchCounts::default()
    };
    samples.progress.begin(Stage::Sketch, samples.bytes());
    let start = || {
        (
            Sketcher::new(&methods, samples.common()),
            Scratch::default(),
        )
    };
    let work = |(sketcher, scratch): &mut (Sketcher<'_>, Scratch),
                documents: ChunkDocuments<'_>| {
        let part = samples.part(documents, sketcher, &account)?;
        let made = searched.lines(&part, scratch);
        account.release(part.bytes());
        made
    };
    let pipeline = samples.pipeline();
    pipeline.run_documents_in_order(start, work, |(lines, counts)| {
        summary.samples += counts.samples;
        summary.matched += counts.matched;
        summary.matches += counts.matches;
        summary.skipped += counts.skipped;
        summary.empty += counts.empty;
        summary.sample_doubts.add(&counts.sample_doubts);
        account.release(lines.len());
        write(&lines)
    })?;
    samples.progress.end(samples.bytes());
    Ok(summary)
}

/// The numbers of the documents with features, and their sketches.
///
/// # Errors
/// [`Memory`](crate::ErrorKind::Memory) if the numbers do not fit.
pub fn usable(
    method: &dyn Method,
    sketched: Sketched,
    account: &MemoryAccount,
) -> Result<(Vec<u32>, SketchList)> {
    let Sketched {
        sketches: mut list,
        usable,
        ..
    } = sketched;
    account.reserve(size_of::<u32>() * usable.len(), INDEX)?;
    let numbers = (0..).zip(&usable).filter(|(_, usable)| **usable);
    let numbers: Vec<u32> = numbers.map(|(number, _)| number).collect();
    if numbers.len() < usable.len() {
        list.retain(method, |position| usable[position]);
    }
    Ok((numbers, list))
}

/// Builds an index in at most three quarters of the free memory, and reserves its memory.
///
/// # Errors
/// Errors of building; [`Memory`](crate::ErrorKind::Memory) if it does not fit; interruption.
pub fn index<'a>(
    method: &'a dyn Method,
    list: &'a SketchList,
    account: &MemoryAccount,
    level: Level,
    progress: &Progress,
) -> Result<SketchIndex<'a>> {
    let sketches = list.all(method);
    let memory = usize::try_from(account.free() / 4 * 3).unwrap_or(usize::MAX);
    // The builder would exceed a lower bound.
    account.reserve(SketchIndex::min_bytes(method, sketches.count()), INDEX)?;
    account.release(SketchIndex::min_bytes(method, sketches.count()));
    let check = || progress.check();
    let index = SketchIndex::build_while(method, sketches, memory, level, &check);
    let index = index.map_err(|error| match error.kind() {
        ErrorKind::Memory => account.exceeded(memory as u64, INDEX),
        _ => error,
    })?;
    account.reserve(index.bytes(), INDEX)?;
    Ok(index)
}

/// The name of an index in messages.
const INDEX: &str = "indices of sketches";
/// The name of matches in messages.
const MATCHES: &str = "the matches of some samples";
/// Candidates of one answer; matches are accounted for after each answer.
const CANDIDATES: usize = 1 << 16;

/// The collection that is searched.
struct Searched<'a> {
    /// The files of the articles and of the samples.
    files: [Vec<String>; 2],
    account: &'a MemoryAccount,
    known: &'a Collection,
    usable: &'a [u32],
    index: &'a SketchIndex<'a>,
}

impl Searched<'_> {
    /// The lines of some samples, whose memory is reserved, and their counts.
    fn lines(&self, samples: &Collection, scratch: &mut Scratch) -> Result<(Vec<u8>, MatchCounts)> {
        let (mut lines, mut near) = (Vec::new(), Vec::new());
        let mut counts = MatchCounts {
            samples: samples.members.len() as u64,
            skipped: samples.skipped.len() as u64,
            sample_doubts: samples.doubts,
            ..MatchCounts::default()
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
            self.account.reserve(lines.len() - before, MATCHES)?;
            self.account.release(size_of_val(near.as_slice()));
        }
        Ok((lines, counts))
    }

    /// Appends the matches of a sketch to `near`, and reserves their memory.
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
                taken = self.account.reserve(size_of_val(found), MATCHES);
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
