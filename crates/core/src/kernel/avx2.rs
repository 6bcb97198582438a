//! AVX2 functions that several kernels use.

use std::arch::x86_64::*;

/// Appends the positions of the bits of `mask`; returns the new count.
#[inline]
#[target_feature(enable = "bmi1,popcnt")]
pub(super) fn positions(mut mask: u64, base: usize, places: &mut [u16], mut count: usize) -> usize {
    let total = count + mask.count_ones() as usize;
    // Four at a time: fewer mispredicted loop ends than one at a time. Surplus entries are
    // overwritten.
    while count < total {
        for place in &mut places[count..count + 4] {
            *place = (base + mask.trailing_zeros() as usize) as u16;
            mask &= mask.wrapping_sub(1);
        }
        count += 4;
    }
    total
}

/// Adds each bit of `bits` to the byte of its column.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_half(ones: __m256i, bits: u32) -> __m256i {
    let byte_of_column = _mm256_setr_epi64x(
        0,
        0x0101_0101_0101_0101,
        0x0202_0202_0202_0202,
        0x0303_0303_0303_0303,
    );
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), byte_of_column);
    let bit_of_column = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of_column), bit_of_column);
    _mm256_sub_epi8(ones, set)
}
