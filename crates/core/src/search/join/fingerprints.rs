//! Search of sketches that are fingerprints, over [`GroupedIndex`].

use std::borrow::Cow;

use super::lists::PositionLists;
use super::query::{AnyQuery, NearQuery};
use crate::Result;
use crate::kernel::Level;
use crate::search::hamming::{self, Fingerprint, GroupedIndex, Plan, plan_for};
use crate::sketch::{Score, Sketches};

/// Buffers that a thread reuses from search to search.
#[derive(Debug, Default)]
pub(super) struct FingerprintScratch {
    hamming: hamming::HammingScratch,
    except: Vec<Option<u32>>,
    any: Vec<bool>,
    lists: PositionLists,
    candidates: Vec<u32>,
    marks: Vec<u64>,
    found: Vec<(u32, Score)>,
}

/// Index over fingerprints; equal ones are grouped.
pub(super) struct FingerprintIndex<F: Fingerprint> {
    index: GroupedIndex<F>,
}

impl<F: Fingerprint> FingerprintIndex<F> {
    /// The groups, and k + 1 tables (at most 255) with at most one byte of bucket borders per
    /// fingerprint.
    pub(super) fn bytes_per_sketch(distance: u32) -> usize {
        let tables = (distance.min(F::BITS - 1) as usize + 1).min(255);
        Self::fold_bytes() + tables * (size_of::<F>() + 4 + 1)
    }

    /// Values, borders and positions; during construction also a copy of the fingerprints, and
    /// pairs for sorting that take at most the memory of two values.
    pub(super) fn fold_bytes() -> usize {
        4 * size_of::<F>() + 8
    }

    pub(super) fn build(
        sketches: Sketches<'_>,
        distance: u32,
        memory_bytes: usize,
        level: Level,
    ) -> Result<Self> {
        let fingerprints = fingerprints::<F>(sketches);
        let plan = Self::plan(&fingerprints, fingerprints.len(), distance, memory_bytes)?;
        let (_, blocks) = plan.strategy.parts();
        let index = GroupedIndex::build(&fingerprints, F::BITS, distance, blocks, level)?;
        Ok(FingerprintIndex { index })
    }

    /// The plan of an index over `count` fingerprints, of which some are known.
    fn plan(known: &[F], count: usize, distance: u32, memory_bytes: usize) -> Result<Plan> {
        let table_bytes = memory_bytes.saturating_sub(count.saturating_mul(Self::fold_bytes()));
        plan_for(known, count, count, F::BITS, distance, table_bytes)
    }

    /// The plan of an index over `count` sketches with the usual memory, and of a search for each
    /// of them, estimated from some of them.
    pub(super) fn estimate(sketches: Sketches<'_>, count: usize, distance: u32) -> Result<Plan> {
        let memory_bytes = count.saturating_mul(Self::bytes_per_sketch(distance));
        let known = fingerprints::<F>(sketches);
        Self::plan(&known, count, distance, memory_bytes)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.index.retain(keep);
    }

    pub(super) fn any(
        &self,
        queries: &[AnyQuery<'_>],
        scratch: &mut FingerprintScratch,
        mut sink: impl FnMut(usize, bool),
    ) {
        let sketches: Vec<F> = queries
            .iter()
            .map(|query| fingerprint(query.sketch))
            .collect();
        scratch.except.clear();
        scratch
            .except
            .extend(queries.iter().map(|query| query.except));
        let FingerprintScratch {
            hamming,
            except,
            any,
            ..
        } = scratch;
        self.index.any_batch(&sketches, except, hamming, any);
        for (number, found) in any.iter().enumerate() {
            sink(number, *found);
        }
    }

    pub(super) fn near(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut FingerprintScratch,
        mut sink: impl FnMut(usize, &[(u32, Score)], u32),
    ) {
        let FingerprintScratch {
            hamming,
            lists,
            found,
            ..
        } = scratch;
        let positions = self.index.positions();
        self.lists(queries, hamming, lists, |number, lists, next| {
            found.clear();
            let score = |(position, distance)| (position, Score::Distance(distance));
            found.extend(lists.each(positions).map(score));
            found.sort_unstable_by_key(|near| near.0);
            sink(number, found, next);
        });
    }

    pub(super) fn positions(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut FingerprintScratch,
        mut sink: impl FnMut(usize, &[u32], u32),
    ) {
        let FingerprintScratch {
            hamming,
            lists,
            candidates,
            marks,
            ..
        } = scratch;
        let positions = self.index.positions();
        self.lists(queries, hamming, lists, |number, lists, next| {
            let within = queries[number].within.start..next;
            lists.ascending(positions, &within, marks, candidates);
            sink(number, candidates, next);
        });
    }

    /// Calls `sink(i, lists, next)` for every query, in order: the lists of near positions, cut to
    /// the limit, and the start of the next portion.
    fn lists(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut hamming::HammingScratch,
        lists: &mut PositionLists,
        mut sink: impl FnMut(usize, &PositionLists, u32),
    ) {
        let sketches: Vec<F> = queries
            .iter()
            .map(|query| fingerprint(query.sketch))
            .collect();
        let positions = self.index.positions();
        self.index.search_batch(&sketches, scratch, |number, hits| {
            let NearQuery { within, limit, .. } = &queries[number];
            lists.clear();
            for hit in hits {
                let group = self.index.group(hit.position);
                lists.add(positions, group, within, hit.distance);
            }
            let next = lists.cut(positions, within, *limit);
            sink(number, lists, next);
        });
    }

    pub(super) fn bytes(&self) -> usize {
        self.index.bytes()
    }
}

/// The sketches as fingerprints; borrowed if their layout in memory is that of `[F]`.
pub(super) fn fingerprints<F: Fingerprint>(sketches: Sketches<'_>) -> Cow<'_, [F]> {
    let bytes = sketches.end_to_end();
    let bytes = bytes.filter(|bytes| bytes.len() == sketches.count() * size_of::<F>());
    match bytes.map(bytemuck::try_cast_slice) {
        Some(Ok(fingerprints)) if cfg!(target_endian = "little") => Cow::Borrowed(fingerprints),
        _ => sketches.iter().map(fingerprint).collect(),
    }
}

/// A fingerprint from its little-endian bytes; missing high bytes are zero.
fn fingerprint<F: Fingerprint>(sketch: &[u8]) -> F {
    let word = |bytes: &[u8]| {
        let bytes = bytes.iter().rev();
        bytes.fold(0u64, |word, byte| word << 8 | u64::from(*byte))
    };
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(sketch.chunks(8)) {
        *limb = word(bytes);
    }
    F::of_limbs(limbs)
}
