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

use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::Result;
use crate::dedup::components::Components;
use crate::dedup::star::Star;
use crate::dedup::{Documents, Event, Outcome, Parallel, Verdict};
use crate::io::{Sorted, Sorter};
use crate::run::pipeline::Pipeline;
use crate::run::{Progress, Resources, Stage};
use crate::search::join::{Any, Scratch, SketchIndex};
use crate::sketch::{Method, SketchList};

use super::bits::Bits;
use super::decision::{Decision, Leader, narrow};
use super::gathered::Gathered;
use super::job::{ClusterRule, Job};
use super::leaders::{Block, Leaders};
use super::numbering::Numbering;
use super::shingle_sets::{SetBuffers, ShingleSets};
use super::sketching::Inputs;
use crate::run::room::Room;

/// Queries that a thread asks at a time while it marks.
const QUERIES: usize = 1024;

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
    pub refused: Sorted<Decision>,
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
        let (decisions, refused) = match self.job.clusters {
            ClusterRule::Star => self.stars(&marked, &sets)?,
            ClusterRule::Components => self.components(&marked, &sets)?,
        };
        self.progress.end(0);
        Ok(Found { decisions, refused })
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
                let asked: Vec<Any<'_>> = (first..)
                    .zip(sketches.range(piece).iter())
                    .map(|(rank, sketch)| Any {
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

    fn verdict(&self, sets: &ShingleSets, centre: u64, member: u64) -> Result<Verdict> {
        let (shared, of) =
            SETS.with(|buffers| sets.similarity(centre, member, &mut buffers.borrow_mut()))?;
        let least = u128::from(self.job.verification.thousandths);
        let is_same = u128::from(shared) * 1000 >= u128::from(of) * least && of > 0;
        Ok(match is_same {
            true => Verdict::Same((shared, of)),
            false => Verdict::Refused((shared, of)),
        })
    }

    /// The star rule over the marked leaders.
    fn stars(
        &self,
        marked: &Leaders<'_>,
        sets: &ShingleSets,
    ) -> Result<(Sorted<Decision>, Sorted<Decision>)> {
        let (mut decisions, mut refused) = (self.room.sorter(16), self.room.sorter(16));
        let mut sink = |event: Event| {
            let decision = decision(&event, marked)?;
            match event.outcome {
                Outcome::Verified => decisions.push(decision),
                Outcome::Refused => refused.push(decision),
            }
        };
        let verify = |centre, member| self.verdict(sets, centre, member);
        let per_document = Star::bytes_per_document();
        let blocks = |ranks| self.blocks(marked, ranks, per_document, Star::WORKING_BYTES);
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
                star.remove_near(earlier, &Pool, &verify, &mut sink)
            })?;
            if self.inputs.references == 0 {
                while star.step(&Pool, &verify, &mut sink)? {
                    self.progress.check()?;
                    self.progress.advance_to(start + u64::from(star.decided()));
                }
                let own = star.centres().map(|position| start + u64::from(position));
                own.for_each(|rank| centres.0.insert(rank as u32));
            }
        }
        Ok((decisions.finish()?, refused.finish()?))
    }

    /// Connected components of the marked leaders.
    fn components(
        &self,
        marked: &Leaders<'_>,
        sets: &ShingleSets,
    ) -> Result<(Sorted<Decision>, Sorted<Decision>)> {
        // By rank, until it is known who is joined to whom.
        let mut refusals: Sorter<Decision> = self.room.sorter(16);
        let mut sink = |event: Event| refusals.push(record(&event));
        let verify = |earlier, later| self.verdict(sets, earlier, later);
        let joined = Star::WORKING_BYTES + 8 * marked.count as usize;
        let mut components = Components::new(marked.count)?;
        let (mut block, mut earlier) = (Block::default(), Block::default());
        for ranks in self.blocks(marked, 0..marked.count, 0, joined)? {
            let start = ranks.start;
            marked.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            let own = Documents::block(block.all(self.method), start, &block.parts);
            for batch in marked.batches(0..start)? {
                self.progress.check()?;
                marked.read(batch, &mut earlier)?;
                let (sketches, first) = (earlier.all(self.method), earlier.first);
                let before = Documents::block(sketches, first, &earlier.parts);
                components.join_with((&index, &own), &before, &Pool, &verify, &mut sink)?;
            }
            let mut from = 0;
            while from < own.count() {
                self.progress.check()?;
                from = components.step((&index, &own), from, &Pool, &verify, &mut sink)?;
            }
        }
        let mut decisions: Sorter<Decision> = self.room.sorter(16);
        let (mut a, mut b) = (Block::default(), Block::default());
        for rank in 0..marked.count {
            let first = components.first(rank);
            if first != rank {
                marked.read(first..first + 1, &mut a)?;
                marked.read(rank..rank + 1, &mut b)?;
                let (Verdict::Same(verified) | Verdict::Refused(verified)) =
                    self.verdict(sets, first, rank)?;
                let event = Event {
                    member: rank,
                    centre: first,
                    score: self.method.score(&a.sketches.bytes, &b.sketches.bytes),
                    verified,
                    outcome: Outcome::Verified,
                };
                decisions.push(decision(&event, marked)?)?;
            }
        }
        let mut refused = self.room.sorter(16);
        for pair in refusals.finish()? {
            let pair = pair?;
            if !components.are_joined(pair.kept.into(), pair.document.into()) {
                refused.push(Decision {
                    document: marked.document(pair.document.into())?,
                    kept: marked.document(pair.kept.into())?,
                    ..pair
                })?;
            }
        }
        Ok((decisions.finish()?, refused.finish()?))
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
            sketches.clear();
            parts.clear();
            for rank in &ranks {
                let place = (rank - first) as usize;
                sketches.push(all.all(method).get(place));
                parts.extend(all.parts.get(place));
            }
            visit(&Documents::listed(sketches.all(method), &ranks, &parts))?;
        }
        Ok(())
    }
}

/// What an event says of two documents.
fn decision(event: &Event, marked: &Leaders<'_>) -> Result<Decision> {
    let (document, kept) = (
        marked.document(event.member)?,
        marked.document(event.centre)?,
    );
    Ok(Decision {
        document,
        kept,
        ..record(event)
    })
}

/// What an event says of two ranks.
fn record(event: &Event) -> Decision {
    Decision {
        document: narrow(event.member),
        kept: narrow(event.centre),
        evidence: Decision::NEAR,
        score: Decision::score(event.score),
        verified: [narrow(event.verified.0), narrow(event.verified.1)],
    }
}
