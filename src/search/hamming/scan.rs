use super::{Fingerprint, Hit, limits};
use crate::Result;
use crate::kernel::Level;
use crate::kernel::hamming::{Kernels, Near, TILE};

/// Fingerprints that stay in the first-level cache while every tile of queries passes by.
const BLOCK: usize = 2048;

/// Brute force without an index: for a set too large to hold or to build over.
///
/// `sink(query, hits)` receives the index of a query and some of its hits. The hits of one
/// query come by ascending position, over any number of calls, each not empty; calls for
/// different queries interleave. The first fingerprint has the position `first`, so that a
/// set may be read and scanned piece by piece.
///
/// Memory: at most 128 KiB, whatever is found. Time: `fingerprints.len() * queries.len()`
/// comparisons, fastest with queries in multiples of eight. `width` and `k` are those of
/// [`Index::build`](super::Index::build).
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
    let near = limits::near(width, k)?;
    limits::positions(first, fingerprints.len())?;
    let mut lists: [Vec<Hit>; TILE] = Default::default();
    for (block, first) in fingerprints.chunks(BLOCK).zip((first..).step_by(BLOCK)) {
        for (tile, number) in queries.chunks(TILE).zip((0..).step_by(TILE)) {
            compare(block, tile, near, F::kernels(level), first, &mut lists);
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

/// Appends to each list the hits of one of at most [`TILE`] queries, by ascending position.
pub(super) fn compare<F: Fingerprint>(
    fingerprints: &[F],
    queries: &[F],
    near: Near<F>,
    kernels: &Kernels<F>,
    first: u32,
    lists: &mut [Vec<Hit>; TILE],
) {
    match queries.try_into() {
        Ok(tile) => (kernels.scan_tile)(fingerprints, tile, near, first, lists),
        Err(_) => {
            for (query, hits) in queries.iter().zip(lists) {
                (kernels.scan)(fingerprints, *query, near, first, hits);
            }
        }
    }
}
