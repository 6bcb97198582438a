//! Decisions about near documents: candidates by sketch, verification, and the kept copy.
//!
//! A *leader* is the first document in keep order of those with the same words. Its *rank* is its
//! position among the leaders: by the scope's groups, then in keep order. Leaders with a near
//! sketch of another one are *marked* and get new ranks.
//!
//! ```text
//! leaders ─► mark ─► shingle sets of the marked ─► star or components ─► decisions
//!            any neighbour?   (second reading)   block by block
//! ```
//!
//! Blocks of consecutive ranks are as large as memory allows. Each block has an index, which is
//! queried with the block itself and with the centres of earlier blocks (for components, with all
//! earlier leaders). If the scope has groups,
//! only leaders of the block's groups are queried. The result does not depend on the blocks.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::Result;
use simtool_core::dedup::components::Components;
use simtool_core::dedup::star::Star;
use simtool_core::dedup::{
    Documents, Event, Fraction, IndexedBlock, Judge, SetBitmaps, Sets, Verdict,
};
use simtool_core::kernel::Level;
use simtool_core::search::join::SketchIndex;
use simtool_core::sketch::{Compare, Method, SignedMethod, SketchList};
use simtool_core::text::LeastSimilarity;
use simtool_engine::Stage;
use simtool_files::{Sorted, Sorter};

use super::leaders::{Block, Leaders};
use super::neighbours::{Pool, index_bytes};
use super::refused::{ListedPair, Refused};
use super::second_reading::SecondReading;
use super::shingle_sets::{CollectedSets, SetBuffers, ShingleSets};
use crate::dedup::decision::{Decision, narrow};
use crate::dedup::groups::leader_list::LeadersInOrder;
use crate::dedup::job_context::JobContext;
use crate::dedup::lower::sample::{LowerSample, ProposedPairs};
use crate::dedup::memory;
use crate::dedup::settings::job::ClusterRule;
use crate::scope::Scope;
use crate::table::bits::Bits;

/// Earlier documents that are searched in a block at a time. A search can be interrupted between
/// them only, and may find many pairs.
const STEP: usize = 1024;
/// Refused pairs that are compared at a time for the list.
const LIST_BATCH: usize = 1 << 14;

/// The search for near documents, with everything that it needs.
pub struct NearSearch<'a> {
    /// The job and its documents.
    pub context: JobContext<'a>,
    /// The method, without bitmaps.
    pub method: &'a dyn Method,
    /// The method that made the stored sketches: the same, or its
    /// [coarse](simtool_core::sketch::Method::coarse) form.
    pub stored: &'a SignedMethod,
}

/// The decisions about leaders.
pub struct LeaderDecisions {
    /// Dropped leaders.
    pub decisions: Sorted<Decision>,
    /// Pairs that verification did not confirm.
    pub refused: Refused,
    /// Pairs that lower thresholds would accept.
    pub lower: LowerSample,
}

thread_local! {
    static SETS: RefCell<SetBuffers> = RefCell::default();
}

impl NearSearch<'_> {
    /// Decides about all leaders but those that are `gone`.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; [`ErrorKind::Memory`] if not even one block fits.
    pub fn decide(&self, leaders: LeadersInOrder, gone: Option<&Bits>) -> Result<LeaderDecisions> {
        let by_stored = NearSearch {
            method: self.stored.plain(),
            ..*self
        };
        let all = self.store(leaders, gone)?;
        let marks = by_stored.mark(&all)?;
        let proposed = ProposedPairs::find(&self.context, by_stored.method, &all)?;
        let is_marked = |rank: &u64| marks.contains(*rank as u32);
        let (ranks, space) = ((0..all.count).filter(is_marked), &self.context.space);
        let marked = match self.has_coarse() {
            true => all.select_without_sketches(ranks, space)?,
            false => all.select(ranks, space)?,
        };
        drop(all);
        self.context.progress().end(0);
        let mut wanted = Bits::none_of(self.context.documents.numbering.documents());
        for document in marked.documents().chain(proposed.documents()) {
            wanted.insert(document?);
        }
        let sets = self.collect(&wanted)?;
        let lower = proposed.compare(&self.context, &sets)?;
        let marked = match self.has_coarse() {
            true => self.marked_again(marked, &sets)?,
            false => marked,
        };
        self.context.progress().end(sets.bytes());
        Ok(LeaderDecisions {
            lower,
            ..self.cluster(&marked, &sets)?
        })
    }

    /// Whether the stored sketches are coarse ones of the method.
    fn has_coarse(&self) -> bool {
        self.stored.parameters() != self.method.parameters()
    }

    /// The `marked` leaders that still have a neighbour when they are compared by the whole sketches,
    /// which the second reading made; with these sketches.
    fn marked_again<'l>(
        &'l self,
        marked: Leaders<'_>,
        sets: &CollectedSets,
    ) -> Result<Leaders<'l>> {
        let space = &self.context.space;
        let sketches = sets.of_ranks(marked.documents(), marked.count, space)?;
        let marked = marked.with_sketches(self.method, sketches, space)?;
        let marks = self.marks(&marked, 0)?;
        let is_marked = |rank: &u64| marks.contains(*rank as u32);
        marked.select((0..marked.count).filter(is_marked), space)
    }

    /// The shingle sets of `wanted` documents: the second reading. Begins the stage.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    fn collect(&self, wanted: &Bits) -> Result<CollectedSets> {
        self.context
            .progress()
            .begin(Stage::Verify, self.context.run().pipeline().bytes());
        let method = self.has_coarse().then_some(self.method);
        let reading = SecondReading::new(self.context, method);
        reading.collect(wanted)
    }

    fn store(&self, leaders: LeadersInOrder, gone: Option<&Bits>) -> Result<Leaders<'_>> {
        let is_left = |document: u32| gone.is_none_or(|gone| !gone.contains(document));
        let leaders = leaders.filter(|leader| {
            let document = leader.as_ref().map(|leader| leader.document);
            document.is_ok_and(is_left) || leader.is_err()
        });
        let order = (
            self.context.job.within != Scope::Global,
            self.context.job.keep.is_input_order(),
        );
        Leaders::store(
            leaders,
            self.context.table(),
            self.stored,
            order,
            &self.context.space,
        )
    }

    /// Decides about the leaders that have a neighbour.
    fn cluster(&self, marked: &Leaders<'_>, sets: &CollectedSets) -> Result<LeaderDecisions> {
        self.context.progress().begin(Stage::Cluster, marked.count);
        let sets = sets.of_ranks(marked.documents(), marked.count, &self.context.space)?;
        let judge = self.judge(marked, &sets)?;
        let found = match self.context.job.clusters {
            ClusterRule::Star => self.stars(marked, &judge)?,
            ClusterRule::Components => self.components(marked, &judge)?,
        };
        self.context.progress().end(0);
        Ok(found)
    }

    /// Blocks of leaders that fit into memory with their index, while `working` bytes are used
    /// elsewhere.
    pub(crate) fn blocks(
        &self,
        leaders: &Leaders<'_>,
        ranks: Range<u64>,
        per_document: usize,
        working: usize,
    ) -> Result<Vec<Range<u64>>> {
        let free = self.context.space.bytes(memory::BLOCKS);
        let working = working + Leaders::batch_bytes(self.method);
        leaders.blocks(ranks, per_document, free.saturating_sub(working))
    }

    pub(crate) fn index<'b>(&'b self, block: &'b Block) -> Result<SketchIndex<'b>> {
        let sketches = block.all(self.method);
        let bytes = index_bytes(self.method, sketches);
        let check = || self.context.progress().check();
        SketchIndex::build_while(
            self.method,
            sketches,
            bytes,
            self.context.run().resources.level,
            &check,
        )
    }

    /// The judge of pairs of marked leaders.
    fn judge<'t>(&'t self, marked: &Leaders<'_>, sets: &'t ShingleSets) -> Result<PairJudge<'t>> {
        let least = self.context.job.verification.least;
        Ok(PairJudge {
            sets,
            least,
            level: self.context.run().resources.level,
            numbers: marked.documents().collect::<Result<_>>()?,
            reports_refusals: self.context.job.refused,
            index_bytes: sets.index_bytes(least, self.context.space.bytes(memory::SET_INDEX)),
            bitmap_words: sets.bitmap_words(self.context.space.bytes(memory::BITMAPS)),
            bitmaps: OnceLock::new(),
        })
    }

    /// Applies the star rule to the marked leaders.
    fn stars(&self, marked: &Leaders<'_>, judge: &PairJudge<'_>) -> Result<LeaderDecisions> {
        let mut decisions = self.context.space.sorter(memory::LEADER_DECISIONS);
        let mut refusals = self.context.space.sorter(memory::LISTED_PAIRS);
        let mut sink = |event: Event| match event.verdict {
            Verdict::Same(verified) => decisions.push(judge.decision(&event, verified)),
            Verdict::Refused => refusals.push(judge.listed(&event)),
        };
        let mut count = 0;
        let per_document = Star::bytes_per_document();
        let working = Star::WORKING_BYTES + judge.bytes();
        let blocks = |ranks| self.blocks(marked, ranks, per_document, working);
        // Documents of the reference are all centres, and in no block.
        let mut centres = Centres(Bits::none_of(marked.count));
        let mut block = Block::default();
        (0..marked.references).for_each(|rank| centres.0.insert(rank as u32));
        for ranks in blocks(marked.references..marked.count)? {
            let start = ranks.start;
            let earlier = earlier(marked, &ranks)?;
            marked.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            let mut star = Star::new(index, start, &block.groups);
            centres.for_each(marked, &earlier, |earlier| {
                self.context.progress().check()?;
                star.remove_near(earlier, &Pool, judge, &mut sink)
            })?;
            if !self.context.only_against() {
                while star.step(&Pool, judge, &mut sink)? {
                    self.context.progress().check()?;
                    self.context
                        .progress()
                        .advance_to(start + u64::from(star.decided()));
                }
                let own = star
                    .not_removed()
                    .map(|position| start + u64::from(position));
                own.for_each(|rank| centres.0.insert(rank as u32));
            }
            count += star.refused();
        }
        Ok(LeaderDecisions {
            decisions: decisions.finish()?,
            refused: self.refused(refusals, count, judge)?,
            lower: LowerSample::default(),
        })
    }

    /// Finds the connected components of the marked leaders.
    fn components(&self, marked: &Leaders<'_>, judge: &PairJudge<'_>) -> Result<LeaderDecisions> {
        let mut components = Components::new(marked.count)?;
        self.for_each_block(marked, judge, |block, earlier, from| {
            components.join(block, earlier, from, &Pool, judge)
        })?;
        let mut refusals = self.context.space.sorter(memory::LISTED_PAIRS);
        let mut count = 0;
        let mut sink = |event: Event| refusals.push(judge.listed(&event));
        if components.has_refused() {
            self.for_each_block(marked, judge, |block, earlier, from| {
                let (next, reported) =
                    components.report_refused(block, earlier, from, &Pool, judge, &mut sink)?;
                count += reported;
                Ok(next)
            })?;
        }
        let mut decisions: Sorter<Decision> = self.context.space.sorter(memory::LEADER_DECISIONS);
        let (mut a, mut b) = (Block::default(), Block::default());
        for rank in 0..marked.count {
            self.context.progress().check()?;
            let first = components.first(rank);
            if first != rank && self.may_be_dropped(marked, rank, first) {
                marked.read(first..first + 1, &mut a)?;
                marked.read(rank..rank + 1, &mut b)?;
                let verified = judge.similarity(first, rank)?;
                let event = Event {
                    member: rank,
                    centre: first,
                    score: self.method.score(&a.sketches.bytes, &b.sketches.bytes),
                    verdict: Verdict::Same(verified),
                };
                decisions.push(judge.decision(&event, verified))?;
            }
        }
        Ok(LeaderDecisions {
            decisions: decisions.finish()?,
            refused: self.refused(refusals, count, judge)?,
            lower: LowerSample::default(),
        })
    }

    /// Whether `rank` may be dropped for `first`: documents of the reference never are.
    fn may_be_dropped(&self, marked: &Leaders<'_>, rank: u64, first: u64) -> bool {
        let is_reference = |rank| rank < marked.references;
        !is_reference(rank) && (is_reference(first) || !self.context.only_against())
    }

    /// Calls `visit(block, earlier, from)` for every block: with the earlier leaders in parts, then
    /// with `None` for the block itself; each time from 0 on until it returns no further start.
    fn for_each_block(
        &self,
        marked: &Leaders<'_>,
        judge: &PairJudge<'_>,
        mut visit: impl FnMut(IndexedBlock<'_>, Option<&Documents<'_>>, u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let mut visit_all = |block: IndexedBlock<'_>, earlier: Option<&Documents<'_>>| {
            let mut from = Some(0);
            while let Some(start) = from {
                self.context.progress().check()?;
                from = visit(block, earlier, start)?;
            }
            Ok(())
        };
        let joined = Components::bytes_per_document() * marked.count as usize;
        let working = Star::WORKING_BYTES + joined + judge.bytes();
        let (mut block, mut queries) = (Block::default(), Block::default());
        for ranks in self.blocks(marked, 0..marked.count, 0, working)? {
            let start = ranks.start;
            let batches = marked.batches_of(&earlier(marked, &ranks)?)?;
            marked.read(ranks, &mut block)?;
            let index = self.index(&block)?;
            let own = IndexedBlock {
                index: &index,
                documents: Documents::block(block.all(self.method), start, &block.groups),
            };
            for batch in batches {
                marked.read(batch, &mut queries)?;
                let sketches = queries.all(self.method);
                let before = Documents::block(sketches, queries.first, &queries.groups);
                visit_all(own, Some(&before))?;
            }
            visit_all(own, None)?;
        }
        Ok(())
    }

    /// The refused pairs that are listed, compared exactly; `count` is the number of refused pairs.
    fn refused(
        &self,
        refusals: Sorter<ListedPair>,
        count: u64,
        judge: &PairJudge<'_>,
    ) -> Result<Refused> {
        let mut listed = self.context.space.sorter(memory::REFUSED);
        let mut pairs = refusals.finish()?;
        loop {
            self.context.progress().check()?;
            let batch: Vec<ListedPair> = pairs.by_ref().take(LIST_BATCH).collect::<Result<_>>()?;
            if batch.is_empty() {
                break;
            }
            let compare = |pair: &ListedPair| judge.refusal(pair);
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

/// The ranks before the block at `ranks` that it is compared with, in the reference and after it.
fn earlier(leaders: &Leaders<'_>, ranks: &Range<u64>) -> Result<[Range<u64>; 2]> {
    let compared = leaders.compared_with(ranks)?;
    let before = |compared: Range<u64>| compared.start..compared.end.min(ranks.start);
    Ok(compared.map(before))
}

/// Verifies pairs of ranks by their shingles.
struct PairJudge<'t> {
    sets: &'t ShingleSets,
    least: LeastSimilarity,
    level: Level,
    /// Document numbers by rank.
    numbers: Vec<u32>,
    /// Whether refused pairs are listed.
    reports_refusals: bool,
    /// The memory that an index of sets may take.
    index_bytes: usize,
    /// The number of words of a set's bitmap; `None` if bitmaps do not fit into memory.
    bitmap_words: Option<usize>,
    /// Built when many pairs have to be verified.
    bitmaps: OnceLock<SetBitmaps>,
}

impl Judge for PairJudge<'_> {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        let pair = (earlier, later);
        let reached = SETS.with(|buffers| {
            let buffers = &mut buffers.borrow_mut();
            self.sets.reached(self.least, pair, buffers)
        })?;
        Ok(reached.map_or(Verdict::Refused, Verdict::Same))
    }

    fn prepare(&self) -> Result<()> {
        if let (Some(words), None) = (self.bitmap_words, self.bitmaps.get()) {
            let bitmaps = self.sets.bitmaps(words, self.level)?;
            self.bitmaps.get_or_init(|| bitmaps);
        }
        Ok(())
    }

    fn filter(&self, earlier: u64, later: &[u64], possible: &mut Vec<u64>) {
        match self.bitmaps.get() {
            Some(bitmaps) => bitmaps.filter(earlier, later, self.least, possible),
            None => possible.extend_from_slice(later),
        }
    }

    fn reports_refusals(&self) -> bool {
        self.reports_refusals
    }

    fn sets(&self) -> Option<&dyn Sets> {
        (!self.least.is_containment()).then_some(self)
    }
}

impl Sets for PairJudge<'_> {
    fn read(&self, rank: u64, set: &mut Vec<u64>) -> Result<()> {
        self.sets.read(rank, set)
    }

    fn least(&self) -> LeastSimilarity {
        self.least
    }

    fn index_bytes(&self) -> usize {
        self.index_bytes
    }
}

impl PairJudge<'_> {
    /// The memory of this judge, including bitmaps and the index of sets.
    fn bytes(&self) -> usize {
        let bitmap = self.bitmap_words.map_or(0, SetBitmaps::bytes_per_set);
        self.numbers.len() * (size_of::<u32>() + bitmap) + self.index_bytes
    }

    fn similarity(&self, earlier: u64, later: u64) -> Result<Fraction> {
        SETS.with(|buffers| {
            let buffers = &mut buffers.borrow_mut();
            let pair = (earlier, later);
            self.sets.similarity(self.least.measure, pair, buffers)
        })
    }

    /// The decision for two documents that were compared.
    fn decision(&self, event: &Event, verified: Fraction) -> Decision {
        Decision {
            document: self.numbers[event.member as usize],
            kept: self.numbers[event.centre as usize],
            evidence: Decision::NEAR,
            score: Decision::score(event.score),
            verified: [narrow(verified.0), narrow(verified.1)],
        }
    }

    /// The record of a refused pair that may be listed.
    fn listed(&self, event: &Event) -> ListedPair {
        ListedPair {
            document: self.numbers[event.member as usize],
            kept: self.numbers[event.centre as usize],
            ranks: [narrow(event.member), narrow(event.centre)],
            score: Decision::score(event.score),
        }
    }

    /// A refused pair with its exact similarity, as a record for the list.
    fn refusal(&self, pair: &ListedPair) -> Result<Decision> {
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

/// The kept documents so far: a bit for each rank.
struct Centres(Bits);

impl Centres {
    /// Passes all centres at `ranges` to `visit` in batches, in keep order within each group.
    fn for_each(
        &self,
        marked: &Leaders<'_>,
        ranges: &[Range<u64>],
        mut visit: impl FnMut(&Documents<'_>) -> Result<()>,
    ) -> Result<()> {
        let method = marked.method();
        let (mut all, mut sketches) = (Block::default(), SketchList::new(method));
        let (mut ranks, mut groups) = (Vec::new(), Vec::new());
        for batch in marked.batches_of(ranges)? {
            let first = batch.start;
            ranks.clear();
            ranks.extend(batch.clone().filter(|&rank| self.0.contains(rank as u32)));
            if ranks.is_empty() {
                continue;
            }
            marked.read(batch, &mut all)?;
            for ranks in ranks.chunks(STEP) {
                sketches.clear();
                groups.clear();
                for rank in ranks {
                    let place = (rank - first) as usize;
                    sketches.push(all.all(method).get(place));
                    groups.extend(all.groups.get(place));
                }
                visit(&Documents::with_ranks(sketches.all(method), ranks, &groups))?;
            }
        }
        Ok(())
    }
}
