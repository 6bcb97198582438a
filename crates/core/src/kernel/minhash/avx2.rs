//! AVX2: a group of permutations is two vectors.

use std::arch::x86_64::*;

use super::group::{GROUP, Group};

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn minima(groups: &[Group], values: &[u32], minima: &mut [[u32; GROUP]]) {
    for (group, minima) in groups.iter().zip(minima) {
        let permutations = [load::<0>(group), load::<1>(group)];
        let mut least = [_mm256_set1_epi32(-1); 2];
        for &value in values {
            let value = _mm256_set1_epi32(value as i32);
            for (least, permutation) in least.iter_mut().zip(&permutations) {
                *least = _mm256_min_epu32(*least, permute(permutation, value));
            }
        }
        for (minima, least) in minima.chunks_exact_mut(GROUP / 2).zip(least) {
            // SAFETY: a chunk has eight minima, 32 bytes; the store needs no alignment.
            unsafe { _mm256_storeu_si256(minima.as_mut_ptr().cast(), least) };
        }
    }
}

/// The lower halves of the multipliers in even positions, those in odd positions, the upper halves,
/// and the offsets.
type Loaded = [__m256i; 4];

#[inline]
#[target_feature(enable = "avx2")]
fn load<const HALF: usize>(group: &Group) -> Loaded {
    let vector = |part: &[u32; GROUP]| {
        let half = &part[HALF * (GROUP / 2)..][..GROUP / 2];
        // SAFETY: a half has eight numbers, 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
    };
    let low = vector(&group.low);
    [
        low,
        _mm256_srli_epi64::<32>(low),
        vector(&group.high),
        vector(&group.offset),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn permute([even, odd, high, offset]: &Loaded, value: __m256i) -> __m256i {
    const ODD: i32 = 0b1010_1010;
    // The upper halves of low * value: those of even positions are shifted down, those of odd
    // positions are in place.
    let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(*even, value));
    let carried = _mm256_blend_epi32::<ODD>(even, _mm256_mul_epu32(*odd, value));
    let product = _mm256_mullo_epi32(*high, value);
    _mm256_add_epi32(_mm256_add_epi32(product, carried), *offset)
}
