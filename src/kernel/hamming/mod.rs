//! Which of these fingerprints differ from the query in at most k bits?
//!
//! `scalar` answers in plain Rust and is the oracle. The loops of the other levels are written
//! once, in `lanes`, over a vector of distances; `avx2` and `avx512` say what that vector is.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod fingerprint;
mod key;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod scalar;

pub use fingerprint::Fingerprint;
pub use key::Key;

/// How many queries [`Kernels::scan_tile`] compares with each fingerprint it loads.
pub const TILE: usize = 8;

/// A fingerprint within the wanted distance of a query.
///
/// Hits order by distance, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Hit {
    /// How many bits differ.
    pub distance: u32,
    /// The index of the fingerprint in the slice that was searched.
    pub position: u32,
}

/// What is near: at most `k` of the bits in `mask` differ.
#[derive(Clone, Copy, Debug)]
pub struct Near<F> {
    /// The bits that count; all others are ignored.
    pub mask: F,
    /// The largest distance of a hit.
    pub k: u32,
}

/// A fingerprint near one of several queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The index of the query.
    pub query: u32,
    /// How near, and which fingerprint.
    pub hit: Hit,
}

/// `scan(fingerprints, query, near, first, out)`: see [`Kernels::scan`].
type Scan<F> = fn(&[F], F, Near<F>, u32, &mut Vec<Hit>);
/// `scan_tile(fingerprints, queries, near, first, out)`: see [`Kernels::scan_tile`].
type ScanTile<F> = fn(&[F], &[F; TILE], Near<F>, u32, &mut [Vec<Hit>; TILE]);

/// `scan_each(fingerprints, queries, near, out)`: see [`Kernels::scan_each`].
type ScanEach<F> = fn(&[F], &[F], Near<F>, &mut Vec<Pair>);

/// `unpack(stored, each, named, out)`: see [`Kernels::unpack`].
type Unpack<F> = fn(&[u8], usize, F, &mut Vec<F>);

/// The loops of one instruction-set level; all levels give the same results.
///
/// Obtained from [`Fingerprint::kernels`].
#[derive(Clone, Copy, Debug)]
pub struct Kernels<F> {
    /// Appends the hits of one query to `out`, by ascending position; the first fingerprint
    /// has the position `first`.
    pub scan: Scan<F>,
    /// The same for eight queries at once, each with its own list. Several times as fast as
    /// eight scans where hits are rare, because a vector is tested once for all of them.
    pub scan_tile: ScanTile<F>,
    /// Appends the hits of any number of queries to one list, in no particular order; for few
    /// fingerprints and fewer hits.
    pub scan_each: ScanEach<F>,
    /// Appends fingerprints that are stored in `each` bytes, from one to those of a fingerprint,
    /// little-endian; the bits of `named` are set in all of them. What follows the last whole
    /// one is left.
    pub unpack: Unpack<F>,
    /// Writes the bucket of every fingerprint under a key; both slices have the same length.
    pub buckets: fn(&[F], Key<F>, &mut [u32]),
}

/// Asks for the start of `slice` to be brought into the cache; changes nothing else.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = slice.as_ptr().cast::<i8>();
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;

    /// Values near each other, so that every distance up to the width occurs.
    fn spread<F: Fingerprint>(seeds: &[(u128, u128)]) -> Vec<F> {
        let thin =
            |&(a, b): &(u128, u128)| F::truncate(if a % 2 == 0 { a & b & (a >> 3) } else { a });
        seeds.iter().map(thin).collect()
    }

    fn levels_agree<F: Fingerprint>(seeds: &[(u128, u128)], width: u32, k: u32, first: u32) {
        let fingerprints = spread::<F>(seeds);
        let near = Near {
            mask: F::low_bits(width),
            k,
        };
        let queries: [F; TILE] = std::array::from_fn(|i| {
            fingerprints
                .get(i * 7)
                .copied()
                .unwrap_or(F::truncate(i as u128))
        });
        let many = queries.repeat(2)[..first as usize % (2 * TILE)].to_vec();
        let key = Key::new(near.mask, 1 + k % 20);
        let mut expected_pairs = Vec::new();
        let oracle = F::kernels(Level::Scalar);
        for (query, number) in many.iter().zip(0..) {
            let mut hits = Vec::new();
            (oracle.scan)(&fingerprints, *query, near, 0, &mut hits);
            expected_pairs.extend(hits.iter().map(|hit| Pair {
                query: number,
                hit: *hit,
            }));
        }
        expected_pairs.sort_unstable();
        let mut expected_keys = vec![0; fingerprints.len()];
        (oracle.buckets)(&fingerprints, key, &mut expected_keys);
        assert!(expected_keys.iter().all(|&bucket| bucket < 1 << key.bits()));
        for level in Level::available() {
            let kernels = F::kernels(level);
            let mut pairs = Vec::new();
            (kernels.scan_each)(&fingerprints, &many, near, &mut pairs);
            pairs.sort_unstable();
            assert_eq!(pairs, expected_pairs, "{level} each");
            let mut tile: [Vec<Hit>; TILE] = Default::default();
            (kernels.scan_tile)(&fingerprints, &queries, near, first, &mut tile);
            for (query, of_tile) in queries.iter().zip(&tile) {
                let mut expected = Vec::new();
                (oracle.scan)(&fingerprints, *query, near, first, &mut expected);
                let mut found = Vec::new();
                (kernels.scan)(&fingerprints, *query, near, first, &mut found);
                assert_eq!(found, expected, "{level} scan");
                assert_eq!(*of_tile, expected, "{level} tile");
            }
            let stored: &[u8] = bytemuck::cast_slice(&fingerprints);
            for each in 1..=size_of::<F>() {
                let mut unpacked = vec![F::default(); 2];
                (kernels.unpack)(stored, each, near.mask, &mut unpacked);
                let expected = stored.chunks_exact(each).map(|bytes| {
                    let bytes = bytes.iter().rev();
                    let value = bytes.fold(0, |value, byte| value << 8 | u128::from(*byte));
                    F::truncate(value) | near.mask
                });
                assert!(unpacked.drain(2..).eq(expected), "{level}, {each} bytes");
            }
            let mut keys = vec![0; fingerprints.len()];
            (kernels.buckets)(&fingerprints, key, &mut keys);
            assert_eq!(keys, expected_keys, "{level} buckets");
        }
    }

    proptest! {
        #[test]
        fn every_level_equals_scalar(
            seeds in prop::collection::vec(any::<(u128, u128)>(), 0..150),
            width in 1u32..=128,
            k in 0u32..=128,
            first in 0u32..1 << 31,
        ) {
            levels_agree::<u64>(&seeds, width.min(64), k, first);
            levels_agree::<u128>(&seeds, width, k, first);
        }
    }

    #[test]
    fn a_list_longer_than_a_block_is_complete() {
        let fingerprints = vec![5u64; 10_001];
        let near = Near {
            mask: u64::MAX,
            k: 1,
        };
        for level in Level::available() {
            let mut found = Vec::new();
            (u64::kernels(level).scan)(&fingerprints, 4, near, 7, &mut found);
            let expected: Vec<Hit> = (7..10_008)
                .map(|position| Hit {
                    distance: 1,
                    position,
                })
                .collect();
            assert_eq!(found, expected);
        }
    }
}
