//! Search of a set of fingerprints by tables or by brute force.

use super::scan::compare;
use super::tables::{self, Tables};
use super::{Fingerprint, Hit};
use crate::kernel::hamming::{Kernels, TILE, Threshold};

/// Finds the fingerprints near a query in a set that the caller holds.
#[derive(Debug)]
pub(super) struct NeighbourFinder<F: Fingerprint> {
    pub(super) threshold: Threshold<F>,
    pub(super) kernels: &'static Kernels<F>,
    /// `None` for brute force.
    pub(super) tables: Option<Tables<F>>,
}

/// The hits of each query of a tile (brute force) or chunk (tables).
#[derive(Debug, Default)]
pub(super) struct HitLists {
    pub(super) tile: [Vec<Hit>; TILE],
    chunk: Vec<Vec<Hit>>,
}

impl<F: Fingerprint> NeighbourFinder<F> {
    /// Prepares `fingerprints` for searches: tables of `blocks` blocks if any.
    pub(super) fn build(
        fingerprints: &[F],
        threshold: Threshold<F>,
        blocks: Option<u32>,
        kernels: &'static Kernels<F>,
    ) -> Self {
        let build = |blocks| Tables::build(fingerprints, threshold, blocks, kernels);
        NeighbourFinder {
            threshold,
            kernels,
            tables: blocks.map(build),
        }
    }

    /// The number of queries that are searched at once.
    pub(super) fn at_once(&self) -> usize {
        self.tables.as_ref().map_or(TILE, |_| tables::CHUNK)
    }

    /// Calls `sink(i, hits)` once for every query, in order, with all hits of `queries[i]`.
    /// `fingerprints` must be those of [`build`](Self::build). Hits are sorted by position for
    /// brute force, and unsorted for tables. A query that tables would compare with more than
    /// `most` fingerprints is searched by brute force.
    pub(super) fn search(
        &self,
        fingerprints: &[F],
        queries: &[F],
        most: usize,
        lists: &mut HitLists,
        mut sink: impl FnMut(usize, &mut Vec<Hit>),
    ) {
        let (threshold, kernels, size) = (self.threshold, self.kernels, self.at_once());
        lists.chunk.resize_with(tables::CHUNK, Vec::new);
        for (queries, first) in queries.chunks(size).zip((0..).step_by(size)) {
            let lists = match &self.tables {
                Some(tables) => {
                    let scan = |query: usize, hits: &mut Vec<Hit>| {
                        (kernels.scan)(fingerprints, queries[query], threshold, 0, hits);
                    };
                    let lists = &mut lists.chunk[..];
                    tables.search(queries, threshold, kernels, most, lists, scan);
                    lists
                }
                None => {
                    let lists = &mut lists.tile;
                    compare(fingerprints, queries, threshold, kernels, 0, lists);
                    lists
                }
            };
            for (hits, query) in lists.iter_mut().zip(first..first + queries.len()) {
                sink(query, hits);
                hits.clear();
            }
        }
    }

    /// The memory of the tables in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.tables.as_ref().map_or(0, Tables::bytes)
    }
}
