//! Brute-force comparison of queries with fingerprints.

use super::{Fingerprint, Hit, limits};
use crate::Result;
use crate::kernel::Level;
use crate::kernel::hamming::{Kernels, TILE, Threshold};

/// The number of fingerprints in a block: it stays in the first-level cache for all tiles of
/// queries.
const BLOCK: usize = 2048;

/// Brute-force search without an index, for a set that does not fit in memory or is searched once.
///
/// `sink(query, hits)` receives the index of a query and some of its hits, at least one. The hits
/// of one query arrive by ascending position over any number of calls; calls for different queries
/// interleave. The first fingerprint has the position `first`, so that a set may be scanned in
/// pieces.
///
/// Memory: at most 128 KiB, independent of the number of hits. Time: `fingerprints.len() *
/// queries.len()` comparisons, fastest with queries in multiples of eight. `width` and `k` are
/// those of [`Index::build`](super::Index::build).
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if `width` is not in `1..=F::BITS` or
/// a position exceeds 32 bits.
pub fn scan<F: Fingerprint>(
    fingerprints: &[F],
    queries: &[F],
    width: u32,
    k: u32,
    level: Level,
    first: u32,
    mut sink: impl FnMut(usize, &[Hit]),
) -> Result<()> {
    let threshold = limits::threshold(width, k)?;
    limits::positions(first, fingerprints.len())?;
    let mut lists: [Vec<Hit>; TILE] = Default::default();
    for (block, first) in fingerprints.chunks(BLOCK).zip((first..).step_by(BLOCK)) {
        for (tile, number) in queries.chunks(TILE).zip((0..).step_by(TILE)) {
            compare(block, tile, threshold, F::kernels(level), first, &mut lists);
            for (query, hits) in (number..).zip(&mut lists) {
                if !hits.is_empty() {
                    sink(query, hits);
                    hits.clear();
                }
            }
        }
    }
    Ok(())
}

/// Appends the hits of each of at most [`TILE`] queries to its list, by ascending position.
pub(super) fn compare<F: Fingerprint>(
    fingerprints: &[F],
    queries: &[F],
    threshold: Threshold<F>,
    kernels: &Kernels<F>,
    first: u32,
    lists: &mut [Vec<Hit>; TILE],
) {
    match queries.try_into() {
        Ok(tile) => (kernels.scan_tile)(fingerprints, tile, threshold, first, lists),
        Err(_) => {
            for (query, hits) in queries.iter().zip(lists) {
                (kernels.scan)(fingerprints, *query, threshold, first, hits);
            }
        }
    }
}
