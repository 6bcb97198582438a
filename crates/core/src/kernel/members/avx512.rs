//! AVX-512: a line is one vector.
//!
//! The mask of each comparison is stored as a byte, and all bytes of a batch become one mask. Moving
//! each mask to a general register takes longer.

use std::arch::x86_64::*;

use super::table::{BATCH, MemberTable};

#[repr(C, align(64))]
struct Equal([u8; BATCH]);

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn find(table: &MemberTable, hashes: &[u64]) -> u64 {
    let mut equal = Equal([0; BATCH]);
    for (&hash, equal) in hashes.iter().zip(&mut equal.0) {
        let place = table.line(hash).0.as_ptr();
        // SAFETY: a line is 64 bytes and aligned to 64.
        let line = unsafe { _mm512_load_si512(place.cast()) };
        *equal = _mm512_cmpeq_epi64_mask(line, _mm512_set1_epi64(hash as i64));
    }
    // SAFETY: the array is 64 bytes and aligned to 64.
    let equal = unsafe { _mm512_load_si512(equal.0.as_ptr().cast()) };
    _mm512_test_epi8_mask(equal, equal)
}
