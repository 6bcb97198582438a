//! AVX-512: a lane is one register, and its bits are a mask.

use std::arch::x86_64::*;

use super::rows::{BYTE_ADDITIONS, LANE, SignRows, Sums};

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn accumulate(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    match rows.lanes {
        1 => add_lanes::<1>(rows, slots, sums),
        _ => add_lanes::<2>(rows, slots, sums),
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn add_lanes<const LANES: usize>(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    for few in slots.chunks(BYTE_ADDITIONS) {
        let (mut ones, mut added) = ([zero(); LANES], 0);
        for &slot in few {
            // SAFETY: `first_lane` has an entry for every 16-bit slot. `SignRows` stores only
            // indices of lanes that are followed by at least `lanes` = LANES lanes in `rows`.
            let (first, row) = unsafe {
                let first = usize::from(*rows.first_lane.get_unchecked(usize::from(slot)));
                (
                    first,
                    &*rows.rows.as_ptr().add(first).cast::<[u64; LANES]>(),
                )
            };
            added += i32::from(first != 0);
            for (ones, &lane) in ones.iter_mut().zip(row) {
                *ones = add_bits(*ones, lane);
            }
        }
        for (ones, sums) in ones.iter().zip(sums.0.chunks_exact_mut(LANE)) {
            widen(*ones, added, sums);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn zero() -> __m512i {
    _mm512_setzero_si512()
}

/// Adds each bit to the byte of its column.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_bits(ones: __m512i, bits: u64) -> __m512i {
    _mm512_mask_sub_epi8(ones, bits, ones, _mm512_set1_epi8(-1))
}

/// Adds `2 * ones - added` to each sum.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn widen(ones: __m512i, added: i32, sums: &mut [i32]) {
    let quarters = [
        _mm512_extracti32x4_epi32::<0>(ones),
        _mm512_extracti32x4_epi32::<1>(ones),
        _mm512_extracti32x4_epi32::<2>(ones),
        _mm512_extracti32x4_epi32::<3>(ones),
    ];
    for (sums, quarter) in sums.chunks_exact_mut(16).zip(quarters) {
        let twice = _mm512_slli_epi32::<1>(_mm512_cvtepu8_epi32(quarter));
        let signs = _mm512_sub_epi32(twice, _mm512_set1_epi32(added));
        let place = sums.as_mut_ptr().cast();
        // SAFETY: a chunk has sixteen sums, 64 bytes; load and store need no alignment.
        unsafe { _mm512_storeu_si512(place, _mm512_add_epi32(_mm512_loadu_si512(place), signs)) };
    }
}
