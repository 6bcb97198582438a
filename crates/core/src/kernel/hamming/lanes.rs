//! The vector loops, written once over the trait [`Lanes`].

use super::fingerprint::Fingerprint;
use super::kernels::{Hit, QueryHit, TILE, Threshold};

/// Fingerprints per reservation of a list of hits, so that a scan needs memory for its hits, not
/// for every fingerprint that it compares.
const BLOCK: usize = 2048;

/// One or two vector registers of fingerprints.
///
/// # Safety
/// Every method requires that the processor has the instruction set of the implementation. The
/// methods and the loops below have no `target_feature` of their own: they are inlined into entry
/// points that have it.
pub(super) trait Lanes: Copy {
    type Fingerprint: Fingerprint;
    /// One unsigned number of 64 bits per fingerprint.
    type Distances: Copy;
    /// The number of fingerprints in one value.
    const COUNT: usize;

    unsafe fn splat(fingerprint: Self::Fingerprint) -> Self;
    /// Reads `COUNT` fingerprints. `from` must be valid for reading all of them.
    unsafe fn load(from: *const Self::Fingerprint) -> Self;
    /// Reads `count < COUNT` fingerprints and no byte after them; the other lanes are zero. `from`
    /// must be valid for reading `count` fingerprints.
    unsafe fn load_first(from: *const Self::Fingerprint, count: usize) -> Self;
    unsafe fn and(self, mask: Self) -> Self;
    unsafe fn distances(self, query: Self) -> Self::Distances;

    unsafe fn splat_distance(distance: u32) -> Self::Distances;
    unsafe fn smaller(a: Self::Distances, b: Self::Distances) -> Self::Distances;
    /// Bit `i` is set if distance `i` is at most the limit.
    unsafe fn within(distances: Self::Distances, limit: Self::Distances) -> u32;
    /// Writes the hits of the lanes set in `which`, in order; lane `i` has the position `first +
    /// i`. Always writes `COUNT` hits, the rest with arbitrary contents: `out` must be valid for
    /// all of them.
    unsafe fn store(distances: Self::Distances, which: u32, first: u32, out: *mut Hit);
}

/// Compares fingerprints with `N` queries: a tile, or a single one. The caller has the instruction
/// set.
#[inline(always)]
pub(super) unsafe fn scan<L: Lanes, const N: usize>(
    fingerprints: &[L::Fingerprint],
    queries: [L::Fingerprint; N],
    threshold: Threshold<L::Fingerprint>,
    first: u32,
    out: &mut [Vec<Hit>; N],
) {
    // SAFETY: the caller has the instruction set. `load` and `load_first` read within the block,
    // and `emit` has the capacity that is reserved before each block.
    unsafe {
        let queries = queries.map(|query| L::splat(query & threshold.mask));
        let (mask, limit) = (L::splat(threshold.mask), L::splat_distance(threshold.k));
        let mut position = first;
        for block in fingerprints.chunks(BLOCK) {
            for hits in out.iter_mut() {
                hits.reserve(block.len() + L::COUNT);
            }
            let whole = block.len() / L::COUNT * L::COUNT;
            let mut at = 0;
            while at < whole {
                let lanes = L::load(block.as_ptr().add(at)).and(mask);
                emit(lanes, &queries, limit, u32::MAX, position + at as u32, out);
                at += L::COUNT;
            }
            let rest = block.len() - whole;
            if rest > 0 {
                let lanes = L::load_first(block.as_ptr().add(whole), rest).and(mask);
                let valid = (1 << rest) - 1;
                emit(lanes, &queries, limit, valid, position + whole as u32, out);
            }
            position = position.wrapping_add(block.len() as u32);
        }
    }
}

/// Appends the hits of one vector of fingerprints. Hits are rare, so the queries are tested one by
/// one only if the smallest distance of some fingerprint is within the limit.
#[inline(always)]
unsafe fn emit<L: Lanes, const N: usize>(
    lanes: L,
    queries: &[L; N],
    limit: L::Distances,
    valid: u32,
    first: u32,
    out: &mut [Vec<Hit>; N],
) {
    // SAFETY: the caller has the instruction set and reserved `COUNT` hits more than there are
    // fingerprints left in the block. `store` writes `COUNT` hits; the new length includes only the
    // first ones, which are initialised.
    unsafe {
        let mut nearest = lanes.distances(queries[0]);
        for query in &queries[1..] {
            nearest = L::smaller(nearest, lanes.distances(*query));
        }
        if L::within(nearest, limit) & valid == 0 {
            return;
        }
        for (query, hits) in queries.iter().zip(out) {
            let distances = lanes.distances(*query);
            let which = L::within(distances, limit) & valid;
            // Unconditional: a store costs less than a mispredicted branch.
            let end = hits.len();
            L::store(distances, which, first, hits.as_mut_ptr().add(end));
            hits.set_len(end + which.count_ones() as usize);
        }
    }
}

/// Compares fingerprints that fit in the first-level cache with any number of queries, by tiles.
/// The caller has the instruction set.
#[inline(always)]
pub(super) unsafe fn scan_each<L: Lanes>(
    fingerprints: &[L::Fingerprint],
    queries: &[L::Fingerprint],
    threshold: Threshold<L::Fingerprint>,
    out: &mut Vec<QueryHit>,
) {
    let (tiles, rest) = queries.as_chunks::<TILE>();
    // SAFETY: the caller has the instruction set.
    unsafe {
        for (tile, first) in tiles.iter().zip((0..).step_by(TILE)) {
            each::<L, TILE>(fingerprints, *tile, threshold, [first, 0], out);
        }
        for (query, number) in rest.iter().zip((queries.len() - rest.len()) as u32..) {
            each::<L, 1>(fingerprints, [*query], threshold, [number, 0], out);
        }
    }
}

/// Compares each fingerprint with all after it: the fingerprints of a tile with each other, then
/// the tile with the rest. The caller has the instruction set.
#[inline(always)]
pub(super) unsafe fn pairs<L: Lanes>(
    fingerprints: &[L::Fingerprint],
    threshold: Threshold<L::Fingerprint>,
    out: &mut Vec<QueryHit>,
) {
    let mut first = 0;
    while first < fingerprints.len() {
        let (tile, rest) = fingerprints[first..].split_at(TILE.min(fingerprints.len() - first));
        // SAFETY: the caller has the instruction set.
        unsafe {
            for (place, query) in tile.iter().enumerate() {
                let (number, after) = (first + place, first + place + 1);
                let numbers = [number as u32, after as u32];
                each::<L, 1>(&tile[place + 1..], [*query], threshold, numbers, out);
            }
            if let (Ok(tile), false) = (<[_; TILE]>::try_from(tile), rest.is_empty()) {
                let numbers = [first as u32, (first + TILE) as u32];
                each::<L, TILE>(rest, tile, threshold, numbers, out);
            }
        }
        first += tile.len();
    }
}

/// Compares fingerprints with `N` queries. The first query has the number `first[0]`, the first
/// fingerprint the position `first[1]`.
#[inline(always)]
unsafe fn each<L: Lanes, const N: usize>(
    fingerprints: &[L::Fingerprint],
    queries: [L::Fingerprint; N],
    threshold: Threshold<L::Fingerprint>,
    first: [u32; 2],
    out: &mut Vec<QueryHit>,
) {
    let [first, position] = first;
    let whole = fingerprints.len() / L::COUNT * L::COUNT;
    let rest = fingerprints.len() - whole;
    // SAFETY: the caller has the instruction set; `load` reads whole vectors below `whole`, and
    // `load_first` the `rest` fingerprints after it.
    unsafe {
        let (mask, limit) = (L::splat(threshold.mask), L::splat_distance(threshold.k));
        let splats = queries.map(|query| L::splat(query & threshold.mask));
        let mut at = 0;
        while at < fingerprints.len() {
            let from = fingerprints.as_ptr().add(at);
            let (lanes, valid) = if at < whole {
                (L::load(from), u32::MAX)
            } else {
                (L::load_first(from, rest), (1 << rest) - 1)
            };
            let lanes = lanes.and(mask);
            let mut nearest = lanes.distances(splats[0]);
            for splat in &splats[1..] {
                nearest = L::smaller(nearest, lanes.distances(*splat));
            }
            if L::within(nearest, limit) & valid != 0 {
                for ((query, splat), number) in queries.iter().zip(&splats).zip(first..) {
                    let which = L::within(lanes.distances(*splat), limit) & valid;
                    let hits = Lane {
                        fingerprints: &fingerprints[at..],
                        position: position + at as u32,
                        which,
                    };
                    push_each(hits, *query, threshold, number, out);
                }
            }
            at += L::COUNT;
        }
    }
}

/// The lanes of a vector that hold hits.
struct Lane<'a, F> {
    /// The fingerprints from lane 0 on.
    fingerprints: &'a [F],
    /// The position of lane 0.
    position: u32,
    /// A bit for each hit.
    which: u32,
}

/// Appends a pair for each hit of a query.
#[cold]
fn push_each<F: Fingerprint>(
    hits: Lane<'_, F>,
    query: F,
    threshold: Threshold<F>,
    number: u32,
    out: &mut Vec<QueryHit>,
) {
    let mut which = hits.which;
    while which != 0 {
        let lane = which.trailing_zeros();
        let fingerprint = hits.fingerprints[lane as usize];
        let distance = ((fingerprint ^ query) & threshold.mask).count_ones();
        let position = hits.position + lane;
        out.push(QueryHit {
            query: number,
            hit: Hit { distance, position },
        });
        which &= which - 1;
    }
}

/// The entry points of one instruction set for one fingerprint type, and their table.
macro_rules! table {
    ($name:ident, $fingerprint:ty, $lanes:ty, $unpack:path, $buckets:path, $features:literal) => {
        pub(super) static $name: Kernels<$fingerprint> = {
            fn scan(
                of: &[$fingerprint],
                query: $fingerprint,
                threshold: Threshold<$fingerprint>,
                first: u32,
                out: &mut Vec<Hit>,
            ) {
                #[target_feature(enable = $features)]
                fn enabled(
                    of: &[$fingerprint],
                    query: $fingerprint,
                    threshold: Threshold<$fingerprint>,
                    first: u32,
                    out: &mut [Vec<Hit>; 1],
                ) {
                    // SAFETY: this function has the instruction set.
                    unsafe { lanes::scan::<$lanes, 1>(of, [query], threshold, first, out) }
                }
                let out = std::array::from_mut(out);
                // SAFETY: the table is only handed out where the level is available.
                unsafe { enabled(of, query, threshold, first, out) }
            }

            fn scan_tile(
                of: &[$fingerprint],
                queries: &[$fingerprint; TILE],
                threshold: Threshold<$fingerprint>,
                first: u32,
                out: &mut [Vec<Hit>; TILE],
            ) {
                #[target_feature(enable = $features)]
                fn enabled(
                    of: &[$fingerprint],
                    queries: &[$fingerprint; TILE],
                    threshold: Threshold<$fingerprint>,
                    first: u32,
                    out: &mut [Vec<Hit>; TILE],
                ) {
                    // SAFETY: this function has the instruction set.
                    unsafe { lanes::scan::<$lanes, TILE>(of, *queries, threshold, first, out) }
                }
                // SAFETY: the table is only handed out where the level is available.
                unsafe { enabled(of, queries, threshold, first, out) }
            }

            fn scan_each(
                of: &[$fingerprint],
                queries: &[$fingerprint],
                threshold: Threshold<$fingerprint>,
                out: &mut Vec<QueryHit>,
            ) {
                #[target_feature(enable = $features)]
                fn enabled(
                    of: &[$fingerprint],
                    queries: &[$fingerprint],
                    threshold: Threshold<$fingerprint>,
                    out: &mut Vec<QueryHit>,
                ) {
                    // SAFETY: this function has the instruction set.
                    unsafe { lanes::scan_each::<$lanes>(of, queries, threshold, out) }
                }
                // SAFETY: the table is only handed out where the level is available.
                unsafe { enabled(of, queries, threshold, out) }
            }

            fn pairs(
                of: &[$fingerprint],
                threshold: Threshold<$fingerprint>,
                out: &mut Vec<QueryHit>,
            ) {
                #[target_feature(enable = $features)]
                fn enabled(
                    of: &[$fingerprint],
                    threshold: Threshold<$fingerprint>,
                    out: &mut Vec<QueryHit>,
                ) {
                    // SAFETY: this function has the instruction set.
                    unsafe { lanes::pairs::<$lanes>(of, threshold, out) }
                }
                // SAFETY: the table is only handed out where the level is available.
                unsafe { enabled(of, threshold, out) }
            }

            Kernels {
                scan,
                scan_tile,
                scan_each,
                pairs,
                unpack: $unpack,
                buckets: $buckets,
            }
        };
    };
}

pub(super) use table;
