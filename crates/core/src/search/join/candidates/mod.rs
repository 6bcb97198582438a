//! Search by candidates: groups that share something with the query, which the method then scores.

mod dense;
mod fold;
mod prefix;
mod sets;

use std::ops::Range;

use super::lists::PositionLists;
use super::query::{AnyQuery, NearQuery};
use super::table::Multimap;
use crate::Result;
use crate::sketch::{Compare, Score, Sketches, VectorMeasure};
use dense::{Dense, Outline};
use fold::EqualSketches;
use sets::FeatureSets;

/// Index over sketches that share keys or features; equal ones are grouped.
///
/// A search finds groups that may be near the query; the method then decides.
pub(super) struct CandidateIndex<'a> {
    method: &'a dyn Compare,
    sketches: Sketches<'a>,
    fold: EqualSketches,
    finder: CandidateFinder<'a>,
}

enum CandidateFinder<'a> {
    /// By the keys of the method.
    Keys(Multimap),
    Sets(FeatureSets<'a>),
    Dense(Dense<'a>),
}

/// A query, and buffers to search with.
#[derive(Debug, Default)]
pub(super) struct CandidateScratch {
    keys: Vec<Range<usize>>,
    set: sets::Query,
    outline: Outline,
    lists: PositionLists,
    marks: Vec<u64>,
    listed: Vec<u32>,
    groups: Vec<u32>,
    scores: Vec<Score>,
    found: Vec<(u32, Score)>,
    /// The groups that a query was compared with, counted for each query.
    pub(super) compared: u64,
}

/// The maximum number of list entries read per candidate.
const ENTRIES_PER_CANDIDATE: usize = 64;

impl<'a> CandidateIndex<'a> {
    /// Memory per sketch of the groups of equal sketches.
    pub(super) const FOLD_BYTES: usize = EqualSketches::BYTES;

    /// Maximum memory of a candidate: its group, its score, its list, and its result.
    pub(super) const CANDIDATE_BYTES: usize =
        size_of::<u32>() + size_of::<Score>() + PositionLists::BYTES + size_of::<(u32, Score)>();

    /// Memory for a sketch, besides the sketch itself: an upper bound on the average.
    pub(super) fn bytes_for(method: &dyn Compare, sketch: &[u8]) -> usize {
        let finder = match method.vectors() {
            None => {
                let mut keys = 0usize;
                method.keys(sketch, &mut |_| keys += 1);
                Multimap::bytes_for(keys)
            }
            Some(vectors) => match vectors.rule.measure {
                VectorMeasure::Extended => Dense::BYTES,
                _ => FeatureSets::bytes_for(&vectors, sketch),
            },
        };
        EqualSketches::BYTES + finder
    }

    pub(super) fn build(
        method: &'a dyn Compare,
        sketches: Sketches<'a>,
        memory_bytes: usize,
        check: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<CandidateIndex<'a>> {
        let fold = EqualSketches::new(sketches);
        let memory_bytes = memory_bytes.saturating_sub(fold.bytes());
        let finder = match method.vectors() {
            None => {
                let each = |groups: Range<u32>, visit: &mut dyn FnMut(u64, u32)| {
                    fold.for_each_of(groups, sketches, |group, sketch| {
                        method.keys(sketch, &mut |key| visit(key, group));
                    });
                };
                let table = Multimap::build(fold.count(), each, memory_bytes, check)?;
                CandidateFinder::Keys(table)
            }
            Some(vectors) => match vectors.rule.measure {
                VectorMeasure::Extended => {
                    let memory = memory_bytes;
                    CandidateFinder::Dense(Dense::build(vectors, sketches, &fold, memory, check)?)
                }
                _ => CandidateFinder::Sets(FeatureSets::build(
                    vectors,
                    sketches,
                    &fold,
                    memory_bytes,
                    check,
                )?),
            },
        };
        Ok(CandidateIndex {
            method,
            sketches,
            fold,
            finder,
        })
    }

    /// Forgets positions for which `keep` does not hold, where sketches are found by keys. Those
    /// that are equal to a kept one stay.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        if let CandidateFinder::Keys(table) = &mut self.finder {
            let (fold, members) = (&self.fold, self.fold.members());
            let is_kept = |group| members[fold.list(group)].iter().any(|member| keep(*member));
            table.retain(is_kept);
        }
    }

    pub(super) fn any(
        &self,
        queries: &[AnyQuery<'_>],
        scratch: &mut CandidateScratch,
        mut sink: impl FnMut(usize, bool),
    ) {
        for (number, query) in queries.iter().enumerate() {
            self.prepare(query.sketch, scratch);
            let mut alone = query.except.map_or(0..0, |position| {
                self.fold.singles(&(position..position.saturating_add(1)))
            });
            let except = alone.next();
            let score = self.method.scorer(query.sketch);
            let mut is_near =
                |group: u32| Some(group) != except && score(self.sketch(group)).is_some();
            let all = 0..self.fold.count();
            let found = match &self.finder {
                CandidateFinder::Keys(table) => {
                    let mut numbers = scratch.keys.drain(..).flatten();
                    numbers.any(|entry| is_near(table.numbers()[entry]))
                }
                CandidateFinder::Sets(sets) => sets.any(&mut scratch.set, except, &mut is_near),
                CandidateFinder::Dense(dense) => dense.admitted(&scratch.outline, all).any(is_near),
            };
            sink(number, found);
        }
    }

    pub(super) fn near(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut CandidateScratch,
        mut sink: impl FnMut(usize, &[(u32, Score)], u32),
    ) {
        for (number, query) in queries.iter().enumerate() {
            self.prepare(query.sketch, scratch);
            let next = self.near_one(query, scratch);
            sink(number, &scratch.found, next);
        }
    }

    /// Writes the near positions of a portion of the requested range to `scratch.found`; returns
    /// the end of the portion.
    fn near_one(&self, query: &NearQuery<'_>, scratch: &mut CandidateScratch) -> u32 {
        let (fold, within) = (&self.fold, &query.within);
        let limit = query.limit.max(1);
        let singles = fold.singles(within);
        scratch.groups.clear();
        // Groups of several members are not ordered by position, so all of them are searched.
        self.find(0..fold.several(), usize::MAX, scratch);
        scratch.groups.retain(|&group| fold.meets(group, within));
        let several = scratch.groups.len();
        let stopped = self.find(singles.clone(), limit, scratch);
        // No more single ones are scored than the limit allows in the answer.
        let behind = match scratch.groups.get(several.saturating_add(limit)) {
            Some(group) => Some(*group),
            None => (stopped < singles.end).then_some(stopped),
        };
        let end = behind.map_or(within.end, |group| fold.first(group));
        scratch.groups.truncate(several.saturating_add(limit));
        let CandidateScratch {
            lists,
            groups,
            scores,
            found,
            ..
        } = scratch;
        lists.clear();
        scores.clear();
        found.clear();
        if !groups.is_empty() {
            let score = self.method.scorer(query.sketch);
            for &group in &*groups {
                let Some(score) = score(self.sketch(group)) else {
                    continue;
                };
                let number = scores.len() as u32;
                scores.push(score);
                let list = fold.list(group);
                lists.add(fold.members(), list, &(within.start..end), number);
            }
        }
        let next = lists.cut(fold.members(), &(within.start..end), limit);
        let near = lists.each(fold.members());
        found.extend(near.map(|(position, number)| (position, scores[number as usize])));
        found.sort_unstable_by_key(|near| near.0);
        next
    }

    /// Prepares `scratch` for a query.
    fn prepare(&self, sketch: &[u8], scratch: &mut CandidateScratch) {
        match &self.finder {
            CandidateFinder::Keys(table) => {
                scratch.keys.clear();
                self.method.keys(sketch, &mut |key| {
                    let list = table.list(key);
                    if !list.is_empty() {
                        scratch.keys.push(list);
                    }
                });
            }
            CandidateFinder::Sets(sets) => sets.prepare(sketch, &mut scratch.set),
            CandidateFinder::Dense(dense) => scratch.outline = dense.outline(sketch),
        }
    }

    /// Appends the groups among `groups` that may be near the query, each once, ascending. Returns
    /// the group at which it stopped: the end, or after the work allowed for `limit` candidates.
    fn find(&self, groups: Range<u32>, limit: usize, scratch: &mut CandidateScratch) -> u32 {
        if groups.is_empty() {
            return groups.end;
        }
        let max_entries = limit.saturating_mul(ENTRIES_PER_CANDIDATE);
        let found = &mut scratch.groups;
        match &self.finder {
            CandidateFinder::Keys(table) => {
                let (lists, numbers) = (&mut scratch.lists, table.numbers());
                lists.clear();
                for list in &scratch.keys {
                    lists.add(numbers, list.clone(), &groups, 0);
                }
                let end = lists.cut(numbers, &groups, max_entries);
                let CandidateScratch { marks, listed, .. } = scratch;
                lists.ascending(numbers, &groups, marks, listed);
                // A group is in the list of each key that it shares.
                listed.dedup();
                found.extend_from_slice(listed);
                scratch.compared += listed.len() as u64;
                end
            }
            CandidateFinder::Sets(sets) => {
                let (end, compared) =
                    sets.find(&mut scratch.set, groups, (limit, max_entries), found);
                scratch.compared += compared;
                end
            }
            CandidateFinder::Dense(dense) => {
                let start = groups.start;
                let end = dense.find(&scratch.outline, groups, limit, found);
                scratch.compared += u64::from(end - start);
                end
            }
        }
    }

    fn sketch(&self, group: u32) -> &'a [u8] {
        self.sketches.get(self.fold.first(group) as usize)
    }

    pub(super) fn bytes(&self) -> usize {
        let finder = match &self.finder {
            CandidateFinder::Keys(table) => table.bytes(),
            CandidateFinder::Sets(sets) => sets.bytes(),
            CandidateFinder::Dense(dense) => dense.bytes(),
        };
        self.fold.bytes() + finder
    }
}
