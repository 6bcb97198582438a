//! AVX-512 functions that several kernels use.

use std::arch::x86_64::*;

/// Stores the positions of the bits of `mask` and returns their number.
///
/// # Safety
/// `places` must be valid for writing 64 entries.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) unsafe fn positions(mask: u64, base: usize, places: *mut u16) -> usize {
    let packed = _mm512_maskz_compress_epi8(mask, iota());
    let wide = |half| _mm512_add_epi16(_mm512_cvtepu8_epi16(half), _mm512_set1_epi16(base as i16));
    // SAFETY: the caller guarantees that `places` is valid for writing 64 entries, 128 bytes.
    unsafe { _mm512_storeu_si512(places.cast(), wide(_mm512_castsi512_si256(packed))) };
    let count = mask.count_ones() as usize;
    if count > 32 {
        // SAFETY: as above.
        unsafe {
            let upper = wide(_mm512_extracti64x4_epi64::<1>(packed));
            _mm512_storeu_si512(places.add(32).cast(), upper);
        }
    }
    count
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
