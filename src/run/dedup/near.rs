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

use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::dedup::components::Components;
use crate::dedup::star::Star;
use crate::dedup::{Documents, Event, Outcome, Parallel, Verdict};
use crate::io::{Sorted, Sorter};
use crate::run::pipeline::Pipeline;
use crate::run::{Progress, Resources, Stage};
use crate::search::join::{Any, Scratch, SketchIndex};
use crate::sketch::{Method, Score};
use crate::{Error, ErrorKind, Result};

use super::bits::Bits;
use super::decision::{Decision, Leader};
use super::gathered::Gathered;
use super::job::{ClusterRule, Job};
use super::leaders::{Block, Leaders};
use super::numbering::Numbering;
use super::room::Room;
use super::shingle_sets::{SetBuffers, ShingleSets};
use super::sketching::Inputs;

/// Queries that a thread asks at a time while it marks.
const QUERIES: usize = 1024;
/// Centres that stream past a block at a time.
const CENTRES: usize = 1 << 16;

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
        let size = self.method.sketch_bytes();
        let with_parts = self.job.keep_per_site;
        let all = Leaders::put_aside(leaders, self.gathered, size, with_parts, &self.room)?;
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

    /// What a centre takes on its way past a block.
    fn centre_bytes(&self) -> usize {
        2 * (self.method.sketch_bytes() + 2 * size_of::<u64>())
    }

    /// How many leaders a block has.
    fn block_len(&self, per_document: usize, working: usize) -> Result<u64> {
        let each = self.method.sketch_bytes()
            + SketchIndex::bytes_per_sketch(self.method)
            + 2 * size_of::<u64>()
            + per_document;
        // Followers and sorters have a quarter.
        let free = (self.room.memory_bytes / 4 * 3).saturating_sub(working);
        match (free / each) as u64 {
            0 => {
                let message = format!(
                    "{} MiB for clustering are too little: give {} MiB more",
                    self.room.memory_bytes >> 20,
                    (working >> 20) + 16
                );
                Err(Error::new(ErrorKind::Memory, message))
            }
            count => Ok(count.min(u32::MAX.into())),
        }
    }

    /// The leaders near which there is another one.
    fn mark(&self, all: &Leaders) -> Result<Leaders> {
        let block_len = self.block_len(0, CENTRES * self.centre_bytes())?;
        let starts: Vec<u64> = (0..all.count).step_by(block_len as usize).collect();
        self.progress
            .begin(Stage::Mark, all.count * starts.len() as u64);
        let mut marks = Bits::none_of(all.count);
        let (mut block, mut queries) = (Block::default(), Block::default());
        for &start in &starts {
            all.read(start, block_len, &mut block)?;
            let index = self.index(&block)?;
            for first in (0..all.count).step_by(CENTRES) {
                self.progress.check()?;
                all.read(first, CENTRES as u64, &mut queries)?;
                for (place, mark) in self
                    .near_any(&index, &block, &queries)
                    .into_iter()
                    .enumerate()
                {
                    if mark {
                        marks.insert((first + place as u64) as u32);
                    }
                }
                self.progress.advance(CENTRES as u64);
            }
        }
        self.progress.end(0);
        let is_marked = |rank: &u64| marks.contains(*rank as u32);
        all.select((0..all.count).filter(is_marked), &self.room)
    }

    fn index<'b>(&'b self, block: &'b Block) -> Result<SketchIndex<'b>> {
        let count = block.sketches.len() / self.method.sketch_bytes().max(1);
        let memory = SketchIndex::bytes_per_sketch(self.method) * count;
        let level = self.resources.level;
        // What a small index may take beyond its share does not matter.
        SketchIndex::build(self.method, &block.sketches, memory.max(1 << 20), level)
    }

    /// Whether anybody in the block of `index` is near each of the queries.
    fn near_any(&self, index: &SketchIndex<'_>, block: &Block, queries: &Block) -> Vec<bool> {
        let size = self.method.sketch_bytes();
        let held = block.first..block.first + u64::from(index.count());
        let pieces: Vec<(usize, &[u8])> = queries
            .sketches
            .chunks(QUERIES * size)
            .enumerate()
            .collect();
        let found: Vec<Vec<bool>> = pieces
            .into_par_iter()
            .map_init(Scratch::default, |scratch, (piece, sketches)| {
                let first = queries.first + (piece * QUERIES) as u64;
                let asked: Vec<Any<'_>> = (first..)
                    .zip(sketches.chunks(size))
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
        marked: &Leaders,
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
        let working = Star::WORKING_BYTES + CENTRES * self.centre_bytes();
        let block_len = self.block_len(Star::bytes_per_document(), working)?;
        // Documents of the reference are all centres, and form blocks of their own.
        let mut centres = Centres(Bits::none_of(marked.count));
        let mut block = Block::default();
        for (start, count, is_reference) in blocks(marked, block_len) {
            if is_reference {
                (start..start + count).for_each(|rank| centres.0.insert(rank as u32));
                continue;
            }
            marked.read(start, count, &mut block)?;
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
        marked: &Leaders,
        sets: &ShingleSets,
    ) -> Result<(Sorted<Decision>, Sorted<Decision>)> {
        let size = self.method.sketch_bytes();
        // By rank, until it is known who is joined to whom.
        let mut refusals: Sorter<Decision> = self.room.sorter(16);
        let mut sink = |event: Event| refusals.push(record(&event));
        let verify = |earlier, later| self.verdict(sets, earlier, later);
        let joined = 8 * marked.count as usize + CENTRES * self.centre_bytes();
        let block_len = self.block_len(0, Star::WORKING_BYTES + joined)?;
        let mut components = Components::new(marked.count)?;
        let (mut block, mut earlier) = (Block::default(), Block::default());
        for start in (0..marked.count).step_by(block_len as usize) {
            marked.read(start, block_len, &mut block)?;
            let index = self.index(&block)?;
            let own = Documents::block(&block.sketches, size, start, &block.parts);
            for first in (0..start).step_by(CENTRES) {
                self.progress.check()?;
                marked.read(first, (start - first).min(CENTRES as u64), &mut earlier)?;
                let before = Documents::block(&earlier.sketches, size, first, &earlier.parts);
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
                marked.read(first, 1, &mut a)?;
                marked.read(rank, 1, &mut b)?;
                let (Verdict::Same(verified) | Verdict::Refused(verified)) =
                    self.verdict(sets, first, rank)?;
                let event = Event {
                    member: rank,
                    centre: first,
                    score: self.method.score(&a.sketches, &b.sketches),
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
        marked: &Leaders,
        mut visit: impl FnMut(&Documents<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut all = Block::default();
        let (mut ranks, mut sketches, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for first in (0..marked.count).step_by(CENTRES) {
            let stays = first..marked.count.min(first + CENTRES as u64);
            let stays = stays.filter(|&rank| self.0.contains(rank as u32));
            ranks.clear();
            ranks.extend(stays);
            if ranks.is_empty() {
                continue;
            }
            marked.read(first, CENTRES as u64, &mut all)?;
            let size = marked.sketch_bytes();
            sketches.clear();
            parts.clear();
            for rank in &ranks {
                let place = (rank - first) as usize;
                sketches.extend_from_slice(&all.sketches[place * size..][..size]);
                parts.extend(all.parts.get(place));
            }
            visit(&Documents::listed(&sketches, size, &ranks, &parts))?;
        }
        Ok(())
    }
}

/// First rank and length of each block, and whether it belongs to the reference.
fn blocks(marked: &Leaders, block_len: u64) -> impl Iterator<Item = (u64, u64, bool)> {
    let parts = [
        (0, marked.references, true),
        (marked.references, marked.count, false),
    ];
    parts
        .into_iter()
        .flat_map(move |(begin, end, is_reference)| {
            (begin..end)
                .step_by(block_len as usize)
                .map(move |start| (start, block_len.min(end - start), is_reference))
        })
}

/// What an event says of two documents.
fn decision(event: &Event, marked: &Leaders) -> Result<Decision> {
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
        score: match event.score {
            Score::Distance(bits) => [bits, 0],
            Score::Fraction(share, of) => [narrow(share), narrow(of)],
        },
        verified: [narrow(event.verified.0), narrow(event.verified.1)],
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
