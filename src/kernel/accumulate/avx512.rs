//! AVX-512: a lane is one register.

use std::arch::x86_64::*;

use super::{BYTE_ADDITIONS, LANE, Lane, SignRows, Sums};

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
        let mut bytes = [ZERO; LANES];
        for &slot in few {
            // SAFETY: there is an entry for every 16-bit slot, and `SignRows` lets no entry name
            // a lane from which fewer than `lanes`, that is LANES, are left.
            let row = unsafe {
                let first = *rows.first_lane.get_unchecked(usize::from(slot));
                rows.rows.as_ptr().add(usize::from(first))
            };
            for (lane, bytes) in bytes.iter_mut().enumerate() {
                // SAFETY: as above.
                *bytes = add(*bytes, unsafe { &*row.add(lane) });
            }
        }
        for (bytes, sums) in bytes.iter().zip(sums.0.chunks_exact_mut(LANE)) {
            widen(*bytes, sums);
        }
    }
}

/// Sums of 64 columns, a byte each.
// SAFETY: all bit patterns are values of a SIMD register.
const ZERO: __m512i = unsafe { std::mem::zeroed() };

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add(bytes: __m512i, lane: &Lane) -> __m512i {
    // SAFETY: a lane is 64 bytes, aligned to 64.
    let signs = unsafe { _mm512_load_si512(lane.0.as_ptr().cast()) };
    _mm512_add_epi8(bytes, signs)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn widen(bytes: __m512i, sums: &mut [i32]) {
    let quarters = [
        _mm512_extracti32x4_epi32::<0>(bytes),
        _mm512_extracti32x4_epi32::<1>(bytes),
        _mm512_extracti32x4_epi32::<2>(bytes),
        _mm512_extracti32x4_epi32::<3>(bytes),
    ];
    for (sums, quarter) in sums.chunks_exact_mut(16).zip(quarters) {
        let place = sums.as_mut_ptr().cast();
        // SAFETY: a chunk is sixteen sums, 64 bytes.
        unsafe {
            let sum = _mm512_add_epi32(_mm512_loadu_si512(place), _mm512_cvtepi8_epi32(quarter));
            _mm512_storeu_si512(place, sum);
        }
    }
}
