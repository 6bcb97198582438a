//! Scans for the fingerprints that differ from a query in at most k bits.
//!
//! `scalar` is plain Rust and the oracle. The loops of the other levels are written once, in
//! `lanes`, over a vector type, which `avx2`, `avx512` and `neon` implement. `dispatch` selects the kernels
//! of a level.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod fingerprint;
mod kernels;
mod key;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod lanes;
#[cfg(target_arch = "aarch64")]
mod neon;
mod prefetch;
mod scalar;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod single;
mod wide;

pub use fingerprint::Fingerprint;
pub use kernels::{Hit, Kernels, Key, QueryHit, TILE, Threshold};
pub use prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
pub(in crate::kernel) use prefetch::prefetch_place;
pub use wide::U256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;

    /// Values close to each other, so that every distance up to the width occurs.
    fn spread<F: Fingerprint>(seeds: &[(u128, u128)]) -> Vec<F> {
        let thin = |&(a, b): &(u128, u128)| if a % 2 == 0 { a & b & (a >> 3) } else { a };
        let fingerprint = |seed: &(u128, u128)| {
            let (low, high) = (thin(seed), thin(&(seed.1, seed.0)));
            let bits = (0..F::BITS).filter(|bit| match bit / 128 {
                0 => low >> bit & 1 == 1,
                _ => high >> (bit - 128) & 1 == 1,
            });
            bits.fold(F::default(), |all, bit| all | F::bit(bit))
        };
        seeds.iter().map(fingerprint).collect()
    }

    fn levels_agree<F: Fingerprint>(seeds: &[(u128, u128)], width: u32, k: u32, first: u32) {
        let fingerprints = spread::<F>(seeds);
        let threshold = Threshold {
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
        let key = Key::new(threshold.mask, 1 + k % 20);
        let mut expected_pairs = Vec::new();
        let oracle = F::kernels(Level::Scalar);
        for (query, number) in many.iter().zip(0..) {
            let mut hits = Vec::new();
            (oracle.scan)(&fingerprints, *query, threshold, 0, &mut hits);
            expected_pairs.extend(hits.iter().map(|hit| QueryHit {
                query: number,
                hit: *hit,
            }));
        }
        expected_pairs.sort_unstable();
        let mut expected_own = Vec::new();
        (oracle.pairs)(&fingerprints, threshold, &mut expected_own);
        expected_own.sort_unstable();
        let mut expected_keys = vec![0; fingerprints.len()];
        (oracle.buckets)(&fingerprints, key, &mut expected_keys);
        let in_range = |&bucket: &u32| bucket < 1 << key.bucket_bits();
        assert!(expected_keys.iter().all(in_range));
        for level in Level::available() {
            let kernels = F::kernels(level);
            let mut pairs = Vec::new();
            (kernels.scan_each)(&fingerprints, &many, threshold, &mut pairs);
            pairs.sort_unstable();
            assert_eq!(pairs, expected_pairs, "{level} each");
            let mut own = Vec::new();
            (kernels.pairs)(&fingerprints, threshold, &mut own);
            own.sort_unstable();
            assert_eq!(own, expected_own, "{level} pairs");
            let mut tile: [Vec<Hit>; TILE] = Default::default();
            (kernels.scan_tile)(&fingerprints, &queries, threshold, first, &mut tile);
            for (query, of_tile) in queries.iter().zip(&tile) {
                let mut expected = Vec::new();
                (oracle.scan)(&fingerprints, *query, threshold, first, &mut expected);
                let mut found = Vec::new();
                (kernels.scan)(&fingerprints, *query, threshold, first, &mut found);
                assert_eq!(found, expected, "{level} scan");
                assert_eq!(*of_tile, expected, "{level} tile");
            }
            let stored: &[u8] = bytemuck::cast_slice(&fingerprints);
            for each in 1..=size_of::<F>() {
                let mut unpacked = vec![F::default(); 2];
                (kernels.unpack)(stored, each, threshold.mask, &mut unpacked);
                let expected = stored.chunks_exact(each).map(|bytes| {
                    let mut value = F::default();
                    bytemuck::bytes_of_mut(&mut value)[..each].copy_from_slice(bytes);
                    value | threshold.mask
                });
                assert!(unpacked.drain(2..).eq(expected), "{level}, {each} bytes");
            }
            let mut keys = vec![0; fingerprints.len()];
            (kernels.buckets)(&fingerprints, key, &mut keys);
            assert_eq!(keys, expected_keys, "{level} buckets");
        }
    }

    proptest! {
        /// Promise (Reproducible answers): Every fast kernel gives the results …
        #[test]
        fn every_level_equals_scalar(
            seeds in prop::collection::vec(any::<(u128, u128)>(), 0..150),
            width in 1u32..=128,
            k in 0u32..=128,
            first in 0u32..1 << 31,
        ) {
            levels_agree::<u64>(&seeds, width.min(64), k, first);
            levels_agree::<u128>(&seeds, width, k, first);
            levels_agree::<U256>(&seeds, 2 * width, k, first);
        }
    }

    #[test]
    fn a_list_longer_than_a_block_is_complete() {
        let fingerprints = vec![5u64; 10_001];
        let threshold = Threshold {
            mask: u64::MAX,
            k: 1,
        };
        for level in Level::available() {
            let mut found = Vec::new();
            (u64::kernels(level).scan)(&fingerprints, 4, threshold, 7, &mut found);
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
