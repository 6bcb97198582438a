//! The exact index over groups of equal fingerprints.

use super::finder::NeighbourFinder;
use super::groups::Groups;
use super::{Fingerprint, HammingScratch, Hit, limits, tables};
use crate::Result;
use crate::kernel::Level;
use std::ops::Range;

/// Fingerprints compared at a time by a brute-force search that may stop.
const PIECE: usize = 2048;

/// A query whose buckets hold more than 1 / `LARGE_PART` of the fingerprints is compared with all
/// of them by brute force instead: pages of one template share a bucket in every table.
const LARGE_PART: usize = 4;

/// Index that finds groups of equal fingerprints within a distance of a query.
///
/// Returns groups where [`Index`](super::Index) returns positions, so that a million equal
/// fingerprints cost no more than one until the caller expands them. Owns its data; threads may
/// share `&self`.
#[derive(Debug)]
pub struct GroupedIndex<F: Fingerprint> {
    groups: Groups<F>,
    finder: NeighbourFinder<F>,
}

impl<F: Fingerprint> GroupedIndex<F> {
    /// Prepares `fingerprints`. Searches the distinct ones by tables of `blocks` blocks, or by
    /// brute force if `None`. Otherwise like [`Index::build`](super::Index::build).
    ///
    /// # Errors
    /// Errors of [`Index::build`](super::Index::build).
    pub fn build(
        fingerprints: &[F],
        width: u32,
        k: u32,
        blocks: Option<u32>,
        level: Level,
    ) -> Result<Self> {
        let threshold = limits::index(fingerprints.len(), width, k, blocks)?;
        let groups = Groups::build(fingerprints, threshold);
        let finder = NeighbourFinder::build(&groups.values, threshold, blocks, F::kernels(level));
        Ok(GroupedIndex { groups, finder })
    }

    /// Forgets the positions for which `keep` does not hold. Groups get new numbers. O(n), in place.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let numbers = self.groups.retain(keep);
        if let Some(tables) = &mut self.finder.tables {
            tables.renumber(&numbers);
        }
    }

    /// The positions of all fingerprints, group by group, ascending within each.
    pub fn positions(&self) -> &[u32] {
        &self.groups.positions
    }

    /// The range of group `number` in [`positions`](Self::positions).
    pub fn group(&self, number: u32) -> Range<usize> {
        self.groups.range(number)
    }

    /// Calls `sink(i, hits)` once for every query, in order, with the groups near `queries[i]`,
    /// each once, in no particular order. The `position` of a hit is the number of its group.
    pub fn search_batch(
        &self,
        queries: &[F],
        scratch: &mut HammingScratch,
        mut sink: impl FnMut(usize, &[Hit]),
    ) {
        let values = &self.groups.values;
        let most = values.len() / LARGE_PART;
        let search = |query, hits: &mut Vec<Hit>| sink(query, hits);
        let lists = &mut scratch.lists;
        self.finder.search(values, queries, most, lists, search);
    }

    /// Sets `found[i]` to whether any fingerprint is near `queries[i]`, other than the one at
    /// position `except[i]`.
    ///
    /// Stops at the first one, so further near or equal ones cost nothing.
    pub fn any_batch(
        &self,
        queries: &[F],
        except: &[Option<u32>],
        scratch: &mut HammingScratch,
        found: &mut Vec<bool>,
    ) {
        found.clear();
        found.resize(queries.len(), false);
        let hits = &mut scratch.lists.tile[0];
        let (threshold, kernels) = (self.finder.threshold, self.finder.kernels);
        let chunks = queries.chunks(tables::CHUNK);
        let all = chunks
            .zip(except.chunks(tables::CHUNK))
            .zip(found.chunks_mut(tables::CHUNK));
        for ((queries, except), found) in all {
            let counts = |query: usize, hit: Hit| {
                let members = &self.groups.positions[self.group(hit.position)];
                members.len() > 1 || except[query] != members.first().copied()
            };
            match &self.finder.tables {
                Some(tables) => {
                    tables.any(queries, threshold, kernels, hits, found, counts);
                }
                None => {
                    for (number, query) in queries.iter().enumerate() {
                        found[number] = self.any_by_scan(*query, hits, |hit| counts(number, hit));
                    }
                }
            }
        }
        hits.clear();
    }

    fn any_by_scan(&self, query: F, hits: &mut Vec<Hit>, counts: impl Fn(Hit) -> bool) -> bool {
        let pieces = self.groups.values.chunks(PIECE);
        pieces.zip((0..).step_by(PIECE)).any(|(piece, first)| {
            hits.clear();
            (self.finder.kernels.scan)(piece, query, self.finder.threshold, first, hits);
            hits.iter().any(|hit| counts(*hit))
        })
    }

    /// The memory of the index in bytes.
    pub fn bytes(&self) -> usize {
        self.groups.bytes() + self.finder.bytes()
    }
}
