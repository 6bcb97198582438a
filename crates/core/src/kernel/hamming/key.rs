//! Bucket keys: selected bits of a fingerprint.

use super::fingerprint::Fingerprint;
use super::kernels::Key;

/// Odd multipliers with irregular bits, one for each word: the golden ratio and primes of xxHash.
const MULTIPLIERS: [u64; 4] = [
    0x9E37_79B9_7F4A_7C15,
    0xC2B2_AE3D_27D4_EB4F,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];
/// The multiplier of the sum; also a prime of xxHash.
const LAST: u64 = 0x1656_67B1_9E37_79F9;

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
        let (masks, count) = (self.mask.limbs(), size_of::<F>() / 8);
        if self.mask.count_ones() == self.bucket_bits {
            for (fingerprint, bucket) in of.iter().zip(out) {
                let words = fingerprint.limbs();
                let (mut gathered, mut place) = (0, 0);
                for (word, mask) in words.into_iter().zip(masks).take(count) {
                    gathered |= gather(word, mask) << place;
                    // At most 31 bits are selected in all, so shifts are in range.
                    place = (place + mask.count_ones()) & 63;
                }
                *bucket = gathered as u32;
            }
        } else if self.bucket_bits == 0 {
            out.fill(0);
        } else {
            for (fingerprint, bucket) in of.iter().zip(out) {
                let mut mixed = 0;
                let words = fingerprint.limbs().into_iter().zip(masks);
                for ((word, mask), multiplier) in words.zip(MULTIPLIERS).take(count) {
                    mixed ^= (word & mask).wrapping_mul(multiplier);
                }
                let hash = (mixed ^ mixed >> 32).wrapping_mul(LAST);
                *bucket = (hash >> (64 - self.bucket_bits)) as u32;
            }
        }
    }
}
