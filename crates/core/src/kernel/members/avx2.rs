//! AVX2: a line is two vectors.

use std::arch::x86_64::*;

use super::table::{MemberLine, MemberTable};

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn find(table: &MemberTable, hashes: &[u64]) -> u64 {
    let found = hashes.iter().map(|hash| has(table.line(*hash), *hash));
    found
        .zip(0..)
        .fold(0, |all, (found, place)| all | u64::from(found) << place)
}

#[inline]
#[target_feature(enable = "avx2")]
fn has(line: &MemberLine, hash: u64) -> bool {
    let place = line.0.as_ptr().cast::<__m256i>();
    // SAFETY: a line is 64 bytes and aligned to 64.
    let (low, high) = unsafe { (_mm256_load_si256(place), _mm256_load_si256(place.add(1))) };
    let hash = _mm256_set1_epi64x(hash as i64);
    let equal = _mm256_or_si256(
        _mm256_cmpeq_epi64(low, hash),
        _mm256_cmpeq_epi64(high, hash),
    );
    _mm256_movemask_epi8(equal) != 0
}
