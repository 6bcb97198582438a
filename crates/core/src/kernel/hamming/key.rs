//! Bucket keys: selected bits of a fingerprint.

use super::fingerprint::Fingerprint;
use super::kernels::Key;

/// Odd multipliers with irregular bits: the golden ratio and two primes of xxHash.
const MULTIPLIERS: [u64; 3] = [
    0x9E37_79B9_7F4A_7C15,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
];

impl<F: Fingerprint> Key<F> {
    /// A key of the bits in `mask` with at most `2^bits_at_most` buckets; `bits_at_most` is in
    /// 0..=31.
    pub fn new(mask: F, bits_at_most: u32) -> Self {
        let bucket_bits = mask.count_ones().min(bits_at_most).min(31);
        Key { mask, bucket_bits }
    }

    /// The bits of the key.
    pub fn mask(self) -> F {
        self.mask
    }

    /// The binary logarithm of the number of buckets.
    pub fn bucket_bits(self) -> u32 {
        self.bucket_bits
    }

    /// [`Kernels::buckets`](super::Kernels::buckets), given a function that gathers bits.
    #[inline(always)]
    pub(super) fn buckets(self, of: &[F], out: &mut [u32], gather: impl Fn(u64, u64) -> u64) {
        assert_eq!(of.len(), out.len());
        let [low_mask, high_mask] = halves(self.mask);
        if self.mask.count_ones() == self.bucket_bits {
            // At most 31 low bits are selected, so the shift is in range.
            let shift = low_mask.count_ones() & 63;
            for (fingerprint, bucket) in of.iter().zip(out) {
                let [low, high] = halves(*fingerprint);
                *bucket = (gather(low, low_mask) | gather(high, high_mask) << shift) as u32;
            }
        } else if self.bucket_bits == 0 {
            out.fill(0);
        } else {
            let [first, second, last] = MULTIPLIERS;
            for (fingerprint, bucket) in of.iter().zip(out) {
                let [low, high] = halves(*fingerprint);
                let mixed =
                    (low & low_mask).wrapping_mul(first) ^ (high & high_mask).wrapping_mul(second);
                let hash = (mixed ^ mixed >> 32).wrapping_mul(last);
                *bucket = (hash >> (64 - self.bucket_bits)) as u32;
            }
        }
    }
}

#[inline(always)]
fn halves<F: Fingerprint>(fingerprint: F) -> [u64; 2] {
    let bits = fingerprint.widen();
    [bits as u64, (bits >> 64) as u64]
}
