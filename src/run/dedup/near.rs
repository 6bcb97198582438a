//! From sketches to decisions: who is near, which of them verify, and which copy stays.
//!
//! ```text
//! leaders ─► mark ─► shingle sets of the marked ─► star or components ─► decisions
//!            who has anybody near?   (second reading)   block by block
//! ```
//!
//! Blocks of consecutive ranks are as large as memory allows; each has an index, past which the
//! earlier ones stream. What is found does not depend on them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::iter::{
    IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use crate::Result;
use crate::dedup::components::Components;
use crate::dedup::star::Star;
use crate::dedup::{Documents, Event, Fraction, Judge, Parallel, Signatures, Verdict};
use crate::io::{Sorted, Sorter};
use crate::kernel::Level;
use crate::run::pipeline::Pipeline;
use crate::run::{Progress, Resources, Stage};
use crate::search::join::{AnyQuery, Scratch, SketchIndex};
use crate::sketch::{Method, SketchList};

use super::bits::Bits;
use super::decision::{Decision, Leader, narrow};
use super::gathered::Gathered;
use super::job::{ClusterRule, Job};
use super::leaders::{Block, Leaders};
use super::numbering::Numbering;
use super::refused::{Counts, Listed, Refusals, Refused};
use super::shingle_sets::{SetBuffers, ShingleSets};
use super::sketching::Inputs;
use crate::run::room::Room;

/// Queries that a thread asks at a time while it marks.
const QUERIES: usize = 1024;
/// Documents that ask a block at a time, as many as a step of the block itself takes: what they
/// find may be a long work, which can be stopped between them.
const ASKING: usize = 1024;
/// Refused pairs that are compared at a time to be listed.
const LISTED: usize = 1 << 14;

/// What the stage works with.
pub struct Stages<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its method.
    pub method: &'a dyn Method,
    /// What is read.
    pub inputs: Inputs<'a>,
    /// All documents.
    pub gathered: &'a Gathered,
    /// Their numbers.
    pub numbering: &'a Numbering<'a>,
    /// Memory and temporary space.
    pub room: Room<'a>,
    /// How inputs are read.
    pub pipeline: Pipeline<'a>,
    /// Threads and instruction set.
    pub resources: &'a Resources,
    /// Hears of what is done.
    pub progress: &'a Progress,
}

/// What was found.
pub struct Found {
    /// Leaders that go.
    pub decisions: Sorted<Decision>,
    /// Pairs that verification did not confirm.
    pub refused: Refused,
}

/// Rayon's threads, for the layers that must not know of them.
struct Pool;

impl Parallel for Pool {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.par_iter_mut().for_each(work);
    }
}

thread_local! {
    static SETS: RefCell<SetBuffers> = RefCell::default();
}

impl Stages<'_> {
    /// Decides about all leaders.
    ///
    /// # Errors
    /// Those of reading and of temporary files; [`ErrorKind::Memory`] if not even one block fits.
    pub fn decide(&self, leaders: Sorted<Leader>) -> Result<Found> {
        let with_parts = self.job.keep_per_site;
        let all = Leaders::put_aside(leaders, self.gathered, self.method, with_parts, &self.room)?;
        let marked = self.mark(&all)?;

        self.progress.begin(Stage::Verify, self.pipeline_bytes());
        let sets = ShingleSets::collect(
            self.job,
            self.inputs,
            self.numbering,
            &marked,
            &self.pipeline,
            self.resources.level,
            &self.room,
        )?;
        self.progress.end(sets.bytes());

        self.progress.begin(Stage::Cluster, marked.count);
        let trial = self.trial(&marked, &sets)?;
        let found = match self.job.clusters {
            ClusterRule::Star => self.stars(&marked, &trial)?,
            ClusterRule::Components => self.components(&marked, &trial)?,
        };
        self.progress.end(0);
        Ok(found)
    }

    /// Bytes that the second reading goes through, at most.
    fn pipeline_bytes(&self) -> u64 {
        let sources = self.inputs.sources.iter();
        sources.filter_map(|source| source.bytes).sum()
    }

    /// Ranges of leaders of which each fits into memory with its index; `working` bytes are taken
    /// by something else.
    fn blocks(
        &self,
        leaders: &Leaders<'_>,
        ranks: Range<u64>,
        per_document: usize,
        working: usize,
    ) -> Result<Vec<Range<u64>>> {
        // Followers and sorters have a quarter.
        let free = self.room.memory_bytes / 4 * 3;
        let working = working + Leaders::batch_bytes(self.method);
        leaders.blocks(ranks, per_document, free.saturating_sub(working))
    }

    /// The leaders near which there is another one.
    fn mark<'m>(&self, all: &Leaders<'m>) -> Result<Leaders<'m>> {
        let blocks = self.blocks(all, 0..all.count, 0, 0)?;
        self.progress
            .begin(Stage::Mark, all.count * blocks.len() as u64);
        let mut marks = Bits::none_of(all.count);
        let batches = all.batches(0..all.count)?;
        let (mut block, mut queries) = (Block::default(), Block::default());
        for ranks in blocks {
            all.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            for batch in &batches {
                self.progress.check()?;
                all.read(batch.clone(), &mut queries)?;
                let marked = self.near_any(&index, &block, &queries);
                for (rank, is_marked) in batch.clone().zip(marked) {
                    if is_marked {
                        marks.insert(rank as u32);
                    }
                }
                self.progress.advance(batch.end - batch.start);
            }
        }
        self.progress.end(0);
        let is_marked = |rank: &u64| marks.contains(*rank as u32);
        all.select((0..all.count).filter(is_marked), &self.room)
    }

    fn index<'b>(&'b self, block: &'b Block) -> Result<SketchIndex<'b>> {
        let sketches = block.all(self.method);
        let memory = match SketchIndex::bytes_per_sketch(self.method) {
            Some(each) => each * sketches.count(),
            None => {
                let each = |sketch| SketchIndex::bytes_for(self.method, sketch);
                sketches.iter().map(each).sum()
            }
        };
        let level = self.resources.level;
        // What a small index may take beyond its share does not matter.
        SketchIndex::build(self.method, sketches, memory.max(1 << 20), level)
    }

    /// Whether anybody in the block of `index` is near each of the queries.
    fn near_any(&self, index: &SketchIndex<'_>, block: &Block, queries: &Block) -> Vec<bool> {
        let sketches = queries.all(self.method);
        let held = block.first..block.first + u64::from(index.count());
        let pieces: Vec<usize> = (0..sketches.count()).step_by(QUERIES).collect();
        let found: Vec<Vec<bool>> = pieces
            .into_par_iter()
            .map_init(Scratch::default, |scratch, start| {
                let piece = start..sketches.count().min(start + QUERIES);
                let first = queries.first + start as u64;
                let asked: Vec<AnyQuery<'_>> = (first..)
                    .zip(sketches.range(piece).iter())
                    .map(|(rank, sketch)| AnyQuery {
                        sketch,
                        except: held.contains(&rank).then(|| (rank - block.first) as u32),
                    })
                    .collect();
                let mut found = vec![false; asked.len()];
                index.any_near_batch(&asked, scratch, |query, any| found[query] = any);
                found
            })
            .collect();
        found.concat()
    }

    /// What the marked leaders are judged with.
    fn trial<'t>(&'t self, marked: &Leaders<'_>, sets: &'t ShingleSets) -> Result<Trial<'t>> {
        Ok(Trial {
            sets,
            thousandths: self.job.verification.thousandths,
            level: self.resources.level,
            numbers: marked.documents()?,
            counts: Counts::new(if self.job.refused { marked.count } else { 0 }),
            words: sets.signature_words(self.room.memory_bytes / 8),
            signatures: OnceLock::new(),
        })
    }

    /// The star rule over the marked leaders.
    fn stars(&self, marked: &Leaders<'_>, trial: &Trial<'_>) -> Result<Found> {
        let mut decisions = self.room.sorter(16);
        let mut refusals = Refusals::new(&trial.counts, &self.room);
        let mut sink = |event: Event| match event.verdict {
            Verdict::Same(verified) => decisions.push(trial.decision(&event, verified)),
            Verdict::Refused => refusals.push(trial.listed(&event)),
        };
        let mut count = 0;
        let per_document = Star::bytes_per_document();
        let working = Star::WORKING_BYTES + trial.bytes();
        let blocks = |ranks| self.blocks(marked, ranks, per_document, working);
        // Documents of the reference are all centres, and form blocks of their own.
        let mut centres = Centres(Bits::none_of(marked.count));
        let mut block = Block::default();
        (0..marked.references).for_each(|rank| centres.0.insert(rank as u32));
        for ranks in blocks(marked.references..marked.count)? {
            let start = ranks.start;
            marked.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            let mut star = Star::new(&index, start, &block.parts);
            centres.for_each(marked, |earlier| {
                self.progress.check()?;
                star.remove_near(earlier, &Pool, trial, &mut sink)
            })?;
            if !self.only_references_remove() {
                while star.step(&Pool, trial, &mut sink)? {
                    self.progress.check()?;
                    self.progress.advance_to(start + u64::from(star.decided()));
                }
                let own = star.centres().map(|position| start + u64::from(position));
                own.for_each(|rank| centres.0.insert(rank as u32));
            }
            count += star.refused();
        }
        Ok(Found {
            decisions: decisions.finish()?,
            refused: self.refused(refusals, count, trial)?,
        })
    }

    /// Connected components of the marked leaders.
    fn components(&self, marked: &Leaders<'_>, trial: &Trial<'_>) -> Result<Found> {
        let mut components = Components::new(marked.count)?;
        self.for_each_block(marked, trial, |index, own, earlier| match earlier {
            Some(earlier) => components.join_with((index, own), earlier, &Pool, trial),
            None => {
                let mut from = 0;
                while from < own.count() {
                    self.progress.check()?;
                    from = components.step((index, own), from, &Pool, trial)?;
                }
                Ok(())
            }
        })?;
        let (mut refusals, mut count) = (Refusals::new(&trial.counts, &self.room), 0);
        let mut sink = |event: Event| refusals.push(trial.listed(&event));
        if components.has_refused() {
            self.for_each_block(marked, trial, |index, own, earlier| {
                let block = (index, own);
                if let Some(earlier) = earlier {
                    count +=
                        components.report_refused_with(block, earlier, &Pool, trial, &mut sink)?;
                    return Ok(());
                }
                let mut from = 0;
                while from < own.count() {
                    self.progress.check()?;
                    let (next, told) =
                        components.report_refused(block, from, &Pool, trial, &mut sink)?;
                    (from, count) = (next, count + told);
                }
                Ok(())
            })?;
        }
        let mut decisions: Sorter<Decision> = self.room.sorter(16);
        let (mut a, mut b) = (Block::default(), Block::default());
        for rank in 0..marked.count {
            self.progress.check()?;
            let first = components.first(rank);
            if first != rank && self.may_go(marked, rank, first) {
                marked.read(first..first + 1, &mut a)?;
                marked.read(rank..rank + 1, &mut b)?;
                let verified = trial.similarity(first, rank)?;
                let event = Event {
                    member: rank,
                    centre: first,
                    score: self.method.score(&a.sketches.bytes, &b.sketches.bytes),
                    verdict: Verdict::Same(verified),
                };
                decisions.push(trial.decision(&event, verified))?;
            }
        }
        Ok(Found {
            decisions: decisions.finish()?,
            refused: self.refused(refusals, count, trial)?,
        })
    }

    /// Whether duplicates within the input stay.
    fn only_references_remove(&self) -> bool {
        self.inputs.references > 0 && self.job.against_only
    }

    /// Whether `rank` can go for `first`: documents of the reference never go.
    fn may_go(&self, marked: &Leaders<'_>, rank: u64, first: u64) -> bool {
        let is_reference = |rank| rank < marked.references;
        !is_reference(rank) && (is_reference(first) || !self.only_references_remove())
    }

    /// Calls `visit` for every block with its index: with the earlier leaders, some at a time, and
    /// once without.
    fn for_each_block(
        &self,
        marked: &Leaders<'_>,
        trial: &Trial<'_>,
        mut visit: impl FnMut(&SketchIndex<'_>, &Documents<'_>, Option<&Documents<'_>>) -> Result<()>,
    ) -> Result<()> {
        let working = Star::WORKING_BYTES + 8 * marked.count as usize + trial.bytes();
        let (mut block, mut earlier) = (Block::default(), Block::default());
        for ranks in self.blocks(marked, 0..marked.count, 0, working)? {
            let start = ranks.start;
            marked.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            let own = Documents::block(block.all(self.method), start, &block.parts);
            for batch in marked.batches(0..start)? {
                marked.read(batch, &mut earlier)?;
                let sketches = earlier.all(self.method);
                for from in (0..sketches.count()).step_by(ASKING) {
                    self.progress.check()?;
                    let piece = from..sketches.count().min(from + ASKING);
                    let parts = earlier.parts.get(piece.clone()).unwrap_or_default();
                    let first = earlier.first + from as u64;
                    let before = Documents::block(sketches.range(piece), first, parts);
                    visit(&index, &own, Some(&before))?;
                }
            }
            visit(&index, &own, None)?;
        }
        Ok(())
    }

    /// The refused pairs that are listed, compared exactly now, of `count` in all.
    fn refused(&self, refusals: Refusals<'_>, count: u64, trial: &Trial<'_>) -> Result<Refused> {
        let mut listed = self.room.sorter(16);
        let mut pairs = refusals.finish()?;
        loop {
            self.progress.check()?;
            let batch: Vec<Listed> = pairs.by_ref().take(LISTED).collect::<Result<_>>()?;
            if batch.is_empty() {
                break;
            }
            let compare = |pair: &Listed| trial.refusal(pair);
            let compared: Vec<Result<Decision>> = batch.par_iter().map(compare).collect();
            compared
                .into_iter()
                .try_for_each(|pair| listed.push(pair?))?;
        }
        Ok(Refused {
            listed: listed.finish()?,
            count,
        })
    }
}

/// Judges by shingles.
struct Trial<'t> {
    sets: &'t ShingleSets,
    thousandths: u32,
    level: Level,
    /// The number of each rank's document.
    numbers: Vec<u32>,
    /// How many refusals of each rank are listed.
    counts: Counts,
    /// The size of signatures, if there is room for them.
    words: Option<usize>,
    /// Made when very many pairs are to be judged.
    signatures: OnceLock<Signatures>,
}

impl Judge for Trial<'_> {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        let pair = (earlier, later);
        let reached = SETS.with(|buffers| {
            let buffers = &mut buffers.borrow_mut();
            self.sets
                .similarity_of_at_least(self.thousandths, pair, buffers)
        })?;
        Ok(reached.map_or(Verdict::Refused, Verdict::Same))
    }

    fn prepare(&self) -> Result<()> {
        if let (Some(words), None) = (self.words, self.signatures.get()) {
            let signatures = self.sets.signatures(words, self.level)?;
            self.signatures.get_or_init(|| signatures);
        }
        Ok(())
    }

    fn filter(&self, earlier: u64, later: &[u64], possible: &mut Vec<u64>) {
        match self.signatures.get() {
            Some(signatures) => signatures.filter(earlier, later, self.thousandths, possible),
            None => possible.extend_from_slice(later),
        }
    }

    fn reports_refusal(&self, _: u64, later: u64) -> bool {
        self.counts.admits(later)
    }
}

impl Trial<'_> {
    /// The memory that this takes when it is prepared.
    fn bytes(&self) -> usize {
        let signature = self.words.map_or(0, Signatures::bytes_per_set);
        self.numbers.len() * (size_of::<u32>() + size_of::<u8>() + signature)
    }

    fn similarity(&self, a: u64, b: u64) -> Result<Fraction> {
        SETS.with(|buffers| self.sets.similarity(a, b, &mut buffers.borrow_mut()))
    }

    /// What an event says of two documents that were compared.
    fn decision(&self, event: &Event, verified: Fraction) -> Decision {
        Decision {
            document: self.numbers[event.member as usize],
            kept: self.numbers[event.centre as usize],
            evidence: Decision::NEAR,
            score: Decision::score(event.score),
            verified: [narrow(verified.0), narrow(verified.1)],
        }
    }

    /// What is listed if there is place.
    fn listed(&self, event: &Event) -> Listed {
        Listed {
            document: self.numbers[event.member as usize],
            kept: self.numbers[event.centre as usize],
            ranks: [narrow(event.member), narrow(event.centre)],
            score: Decision::score(event.score),
        }
    }

    /// What is listed, with what the exact comparison gives.
    fn refusal(&self, pair: &Listed) -> Result<Decision> {
        let [member, centre] = pair.ranks.map(u64::from);
        let verified = self.similarity(centre, member)?;
        Ok(Decision {
            document: pair.document,
            kept: pair.kept,
            evidence: Decision::NEAR,
            score: pair.score,
            verified: [narrow(verified.0), narrow(verified.1)],
        })
    }
}

/// The documents that stay, so far: a bit for each rank.
struct Centres(Bits);

impl Centres {
    /// Hands all centres to `visit`, in keep order, some at a time.
    fn for_each(
        &self,
        marked: &Leaders<'_>,
        mut visit: impl FnMut(&Documents<'_>) -> Result<()>,
    ) -> Result<()> {
        let method = marked.method();
        let (mut all, mut sketches) = (Block::default(), SketchList::new(method));
        let (mut ranks, mut parts) = (Vec::new(), Vec::new());
        for batch in marked.batches(0..marked.count)? {
            let first = batch.start;
            ranks.clear();
            ranks.extend(batch.clone().filter(|&rank| self.0.contains(rank as u32)));
            if ranks.is_empty() {
                continue;
            }
            marked.read(batch, &mut all)?;
            for ranks in ranks.chunks(ASKING) {
                sketches.clear();
                parts.clear();
                for rank in ranks {
                    let place = (rank - first) as usize;
                    sketches.push(all.all(method).get(place));
                    parts.extend(all.parts.get(place));
                }
                visit(&Documents::with_ranks(sketches.all(method), ranks, &parts))?;
            }
        }
        Ok(())
    }
}
