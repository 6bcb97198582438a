//! AVX2: a lane is two registers, with a byte for each of its bits.

use std::arch::x86_64::*;

use super::rows::{BYTE_ADDITIONS, LANE, SignRows, Sums};
use crate::kernel::avx2::add_half;

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
#[target_feature(enable = "avx2")]
fn zero() -> [__m256i; 2] {
    [_mm256_setzero_si256(); 2]
}

/// Adds each bit to the byte of its column.
#[inline]
#[target_feature(enable = "avx2")]
fn add_bits(ones: [__m256i; 2], bits: u64) -> [__m256i; 2] {
    [
        add_half(ones[0], bits as u32),
        add_half(ones[1], (bits >> 32) as u32),
    ]
}

/// Adds `2 * ones - added` to each sum.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(ones: [__m256i; 2], added: i32, sums: &mut [i32]) {
    for (half, sums) in ones.into_iter().zip(sums.chunks_exact_mut(LANE / 2)) {
        let mut bytes = [0u8; 32];
        // SAFETY: the array has 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), half) };
        for (sum, ones) in sums.iter_mut().zip(bytes) {
            *sum += 2 * i32::from(ones) - added;
        }
    }
}
