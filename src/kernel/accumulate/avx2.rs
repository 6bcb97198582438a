//! AVX2: a lane is two registers.

use std::arch::x86_64::*;

use super::{BYTE_ADDITIONS, LANE, Lane, SignRows, Sums};

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn accumulate(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    match rows.lanes {
        1 => add_lanes::<1>(rows, slots, sums),
        _ => add_lanes::<2>(rows, slots, sums),
    }
}

#[target_feature(enable = "avx2")]
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
const ZERO: [__m256i; 2] = unsafe { std::mem::zeroed() };

#[inline]
#[target_feature(enable = "avx2")]
fn add(bytes: [__m256i; 2], lane: &Lane) -> [__m256i; 2] {
    let place = lane.0.as_ptr().cast::<__m256i>();
    // SAFETY: a lane is 64 bytes, aligned to 64.
    let signs = unsafe { [_mm256_load_si256(place), _mm256_load_si256(place.add(1))] };
    [
        _mm256_add_epi8(bytes[0], signs[0]),
        _mm256_add_epi8(bytes[1], signs[1]),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn widen(bytes: [__m256i; 2], sums: &mut [i32]) {
    for (half, sums) in bytes.into_iter().zip(sums.chunks_exact_mut(32)) {
        let mut signs = [0i8; 32];
        // SAFETY: the array is 32 bytes.
        unsafe { _mm256_storeu_si256(signs.as_mut_ptr().cast(), half) };
        for (sum, sign) in sums.iter_mut().zip(signs) {
            *sum += i32::from(sign);
        }
    }
}
