//! The kernels of an instruction-set level as function pointers, and the types of their arguments.

/// The number of queries that [`Kernels::scan_tile`] compares with each fingerprint.
pub const TILE: usize = 8;

/// A fingerprint within the maximum distance of a query.
///
/// `Ord` compares hits by distance, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Hit {
    /// The Hamming distance to the query.
    pub distance: u32,
    /// The position of the fingerprint: its index in the slice that was searched, plus the position
    /// that the caller gave to the start of the slice.
    pub position: u32,
}

/// The condition for a hit: at most `k` of the bits in `mask` differ.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<F> {
    /// The bits that are compared; all others are ignored.
    pub mask: F,
    /// The maximum distance of a hit.
    pub k: u32,
}

/// A fingerprint near one of several queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueryHit {
    /// The index of the query.
    pub query: u32,
    /// The distance and position of the fingerprint.
    pub hit: Hit,
}

/// `scan(fingerprints, query, threshold, first, out)`: see [`Kernels::scan`].
type Scan<F> = fn(&[F], F, Threshold<F>, u32, &mut Vec<Hit>);
/// `scan_tile(fingerprints, queries, threshold, first, out)`: see [`Kernels::scan_tile`].
type ScanTile<F> = fn(&[F], &[F; TILE], Threshold<F>, u32, &mut [Vec<Hit>; TILE]);

/// `scan_each(fingerprints, queries, threshold, out)`: see [`Kernels::scan_each`].
type ScanEach<F> = fn(&[F], &[F], Threshold<F>, &mut Vec<QueryHit>);

/// `pairs(fingerprints, threshold, out)`: see [`Kernels::pairs`].
type Pairs<F> = fn(&[F], Threshold<F>, &mut Vec<QueryHit>);

/// `unpack(stored, value_bytes, common, out)`: see [`Kernels::unpack`].
type Unpack<F> = fn(&[u8], usize, F, &mut Vec<F>);

/// The kernels of one instruction-set level; all levels give the same results.
///
/// Obtained from [`Fingerprint::kernels`](super::Fingerprint::kernels).
#[derive(Clone, Copy, Debug)]
pub struct Kernels<F> {
    /// Appends the hits of one query to `out`, by ascending position. The first fingerprint has the
    /// position `first`.
    pub scan: Scan<F>,
    /// Like [`scan`](Self::scan) for eight queries at once, each with its own list. Several times
    /// as fast as eight scans if hits are rare, because one branch per vector of fingerprints
    /// checks whether any query has a hit.
    pub scan_tile: ScanTile<F>,
    /// Appends the hits of any number of queries to one list, in no particular order. Fast for
    /// a few fingerprints and rare hits.
    pub scan_each: ScanEach<F>,
    /// Appends every pair of the fingerprints that is within the distance, once, in no particular
    /// order. The query of a pair is the earlier one. Fast for a few fingerprints and rare pairs.
    pub pairs: Pairs<F>,
    /// Appends fingerprints stored little-endian in `value_bytes` bytes each, from 1 to the size of
    /// `F`, and sets the bits of `common` in all of them. Ignores an incomplete fingerprint at the
    /// end.
    pub unpack: Unpack<F>,
    /// Writes the bucket of every fingerprint for a key. Both slices have the same length.
    pub buckets: fn(&[F], Key<F>, &mut [u32]),
}

/// Bits of a fingerprint that select its bucket.
///
/// Fingerprints that agree in these bits share a bucket. If the mask has exactly
/// [`bucket_bits`](Key::bucket_bits) bits, the converse holds too: the bucket is the masked bits
/// themselves, packed in ascending order. Otherwise the masked bits are hashed, and different
/// values may share a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Key<F> {
    pub(super) mask: F,
    pub(super) bucket_bits: u32,
}
