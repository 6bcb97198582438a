//! AVX-512 functions that several kernels use.

use std::arch::x86_64::*;

/// Stores the positions of the bits of `mask` and returns their number: at most 32, since no two
/// borders of a kind are adjacent.
///
/// # Safety
/// `places` must be valid for writing 32 entries.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) unsafe fn positions(mask: u64, base: usize, places: *mut u16) -> usize {
    let packed = _mm512_maskz_compress_epi8(mask, iota());
    let wide = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed));
    let moved = _mm512_add_epi16(wide, _mm512_set1_epi16(base as i16));
    // SAFETY: the caller guarantees that `places` is valid for writing 32 entries, 64 bytes.
    unsafe { _mm512_storeu_si512(places.cast(), moved) };
    mask.count_ones() as usize
}

/// Bytes 0, 1, 2 … 63.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn iota() -> __m512i {
    const IOTA: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut place = 0;
        while place < 64 {
            bytes[place] = place as u8;
            place += 1;
        }
        bytes
    };
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_loadu_si512(IOTA.as_ptr().cast()) }
}
