//! AVX-512: a group of permutations is one vector.

use std::arch::x86_64::*;

use super::group::{GROUP, Group};

/// The number of groups processed in one pass over the values, to hide the latency of a
/// multiplication.
const INTERLEAVED_GROUPS: usize = 4;

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn minima(groups: &[Group], values: &[u32], minima: &mut [[u32; GROUP]]) {
    let (many, rest) = groups.as_chunks::<INTERLEAVED_GROUPS>();
    let (minima_of_many, minima_of_rest) = minima.as_chunks_mut::<INTERLEAVED_GROUPS>();
    for (groups, minima) in many.iter().zip(minima_of_many) {
        pass(groups, values, minima);
    }
    for (group, minimum) in rest.iter().zip(minima_of_rest) {
        pass(&[*group], values, std::array::from_mut(minimum));
    }
}

#[target_feature(enable = "avx512f")]
fn pass<const N: usize>(groups: &[Group; N], values: &[u32], minima: &mut [[u32; GROUP]; N]) {
    let permutations = groups.each_ref().map(|group| load(group));
    let mut least = [_mm512_set1_epi32(-1); N];
    for &value in values {
        let value = _mm512_set1_epi32(value as i32);
        for (least, permutation) in least.iter_mut().zip(&permutations) {
            *least = _mm512_min_epu32(*least, permute(permutation, value));
        }
    }
    for (minima, least) in minima.iter_mut().zip(least) {
        // SAFETY: a group has sixteen minima, 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_si512(minima.as_mut_ptr().cast(), least) };
    }
}

/// The lower halves of the multipliers in even positions, those in odd positions, the upper halves,
/// and the offsets.
type Loaded = [__m512i; 4];

#[inline]
#[target_feature(enable = "avx512f")]
fn load(group: &Group) -> Loaded {
    let vector = |part: &[u32; GROUP]| {
        // SAFETY: a part has sixteen numbers, 64 bytes; the load needs no alignment.
        unsafe { _mm512_loadu_si512(part.as_ptr().cast()) }
    };
    let low = vector(&group.low);
    [
        low,
        _mm512_srli_epi64::<32>(low),
        vector(&group.high),
        vector(&group.offset),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn permute([even, odd, high, offset]: &Loaded, value: __m512i) -> __m512i {
    const ODD: u16 = 0xAAAA;
    // The upper halves of low * value: those of even positions are shifted down, those of odd
    // positions are in place.
    let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(*even, value));
    let carried = _mm512_mask_mov_epi32(even, ODD, _mm512_mul_epu32(*odd, value));
    let product = _mm512_mullo_epi32(*high, value);
    _mm512_add_epi32(_mm512_add_epi32(product, carried), *offset)
}
