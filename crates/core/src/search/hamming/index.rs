//! The exact index over one set of fingerprints, with hits by position.

use super::finder::{HitLists, NeighbourFinder};
use super::groups::Groups;
use super::{Fingerprint, Hit, Strategy, limits, order};
use crate::Result;
use crate::kernel::Level;

/// Index that finds every fingerprint within a distance of a query.
///
/// The answer depends only on the fingerprints, the width and k: not on the strategy, the level or
/// the number of threads. Searching takes `&self`, so threads may share an index, each with its own
/// [`HammingScratch`].
#[derive(Debug)]
pub struct Index<'a, F: Fingerprint> {
    fingerprints: &'a [F],
    groups: Option<Groups<F>>,
    /// Searches the distinct fingerprints if there are groups, else all.
    finder: NeighbourFinder<F>,
}

/// Buffers that a thread reuses from search to search; they grow to the largest answer.
#[derive(Debug, Default)]
pub struct HammingScratch {
    pub(super) lists: HitLists,
    finish: Finish,
}

/// Buffers for sorting the hits of one query.
#[derive(Debug, Default)]
struct Finish {
    groups: Vec<Hit>,
    marks: Vec<u64>,
    hits: Vec<Hit>,
}

impl<'a, F: Fingerprint> Index<'a, F> {
    /// Prepares `fingerprints` for searches within distance `k`, counted in the `width` lowest
    /// bits.
    ///
    /// If `k` is `width` or more, everything matches. A `level` that this processor lacks falls
    /// back to the best one that it has. Uses the current rayon pool.
    ///
    /// Brute force builds nothing. Each table takes O(fingerprints) time; [`bytes`](Self::bytes) is
    /// the memory of the index. Groups sort all fingerprints; the sort needs 16 bytes (`u64`) or 32
    /// bytes (`u128`) for each.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for a `width` not in `1..=F::BITS`,
    /// more than `u32::MAX` fingerprints, a strategy with at most `k` blocks, or one with more than
    /// 255 tables.
    pub fn build(
        fingerprints: &'a [F],
        width: u32,
        k: u32,
        strategy: Strategy,
        level: Level,
    ) -> Result<Self> {
        let (grouped, blocks) = strategy.parts();
        let threshold = limits::index(fingerprints.len(), width, k, blocks)?;
        let groups = grouped.then(|| Groups::build(fingerprints, threshold));
        let searched = groups
            .as_ref()
            .map_or(fingerprints, |groups| &groups.values);
        let finder = NeighbourFinder::build(searched, threshold, blocks, F::kernels(level));
        Ok(Index {
            fingerprints,
            groups,
            finder,
        })
    }

    /// Replaces the contents of `out` by all hits of `query`, by (distance, position).
    pub fn search(&self, query: F, scratch: &mut HammingScratch, out: &mut Vec<Hit>) {
        self.search_batch(&[query], scratch, |_, hits| {
            out.clear();
            out.extend_from_slice(hits);
        });
    }

    /// Calls `sink(i, hits)` once for every query, in order, with all hits of `queries[i]`, by
    /// (distance, position).
    ///
    /// Several times as fast per query as [`search`](Self::search). Brute force compares eight
    /// queries at once (batches of a multiple of eight are best); tables prefetch for 32 at once.
    /// The hits of 8 or 32 queries are in memory at once.
    pub fn search_batch(
        &self,
        queries: &[F],
        scratch: &mut HammingScratch,
        mut sink: impl FnMut(usize, &[Hit]),
    ) {
        let HammingScratch { lists, finish } = scratch;
        let (finder, searched) = (&self.finder, self.searched());
        finder.search(searched, queries, usize::MAX, lists, |query, hits| {
            if finder.tables.is_some() {
                hits.sort_unstable();
            } else {
                order::by_distance(hits, finder.threshold.k, &mut finish.groups);
                std::mem::swap(hits, &mut finish.groups);
            }
            sink(query, self.expand(hits, finish));
        });
    }

    /// The size in bytes that a [`HammingScratch`] needs to hold all `fingerprints` as the hits of
    /// one query.
    pub fn min_scratch_bytes(fingerprints: usize) -> usize {
        list_bytes(fingerprints) + finish_bytes(fingerprints)
    }

    /// The largest batch for which a [`HammingScratch`] takes at most `bytes`, even if every
    /// fingerprint is a hit of every query. At least 1; `usize::MAX` if `bytes` suffice for a whole
    /// tile (brute force) or chunk (tables).
    pub fn max_queries(&self, bytes: usize) -> usize {
        let searched = self.searched().len();
        let for_lists = bytes.saturating_sub(finish_bytes(self.fingerprints.len()));
        let lists = for_lists / list_bytes(searched).max(1);
        if lists >= self.finder.at_once() {
            return usize::MAX;
        }
        lists.max(1)
    }

    /// Expands groups to positions; without groups, returns the hits unchanged.
    fn expand<'b>(&self, found: &'b [Hit], finish: &'b mut Finish) -> &'b [Hit] {
        let Some(groups) = &self.groups else {
            return found;
        };
        groups.expand(found, &mut finish.marks, &mut finish.hits);
        &finish.hits
    }

    /// The fingerprints that queries are compared with: the distinct ones if there are groups, else
    /// all.
    fn searched(&self) -> &[F] {
        self.groups
            .as_ref()
            .map_or(self.fingerprints, |groups| &groups.values)
    }

    /// The memory of the index in bytes, without the fingerprints that it borrows.
    pub fn bytes(&self) -> usize {
        self.groups.as_ref().map_or(0, Groups::bytes) + self.finder.bytes()
    }
}

/// Upper bound on the bytes of a list of `hits` hits, whose capacity doubles as it grows.
fn list_bytes(hits: usize) -> usize {
    2 * hits * size_of::<Hit>()
}

/// Upper bound on the bytes that sorting `hits` hits takes.
fn finish_bytes(hits: usize) -> usize {
    2 * list_bytes(hits + 2) + hits.div_ceil(8)
}
