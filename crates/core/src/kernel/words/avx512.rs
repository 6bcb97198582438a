//! AVX-512: run borders by byte compression, keys eight words at a time. Only the lower five bits of
//! each byte of the text are copied.

use std::arch::x86_64::*;

use super::{KEY_LETTERS, LONG, Words};
use crate::kernel::avx512::{iota, positions};
use crate::kernel::hamming::prefetch_place;

/// How far ahead of the words the text is requested from memory.
const AHEAD: usize = 6144;

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) unsafe fn find(words: &mut Words, text: &[u8], stop: Option<u8>) -> usize {
    let stop_mask = if stop.is_some() { u64::MAX } else { 0 };
    let stop = _mm512_set1_epi8(stop.unwrap_or(0) as i8);
    let (mut count, mut carry) = (0, 0);
    let (mut base, mut end) = (0, text.len());
    // One block more than the text: a word may end at the end of the text.
    while base <= end {
        // SAFETY: `base` is at most the length of `text`, and the mask selects only bytes in it.
        let bytes = unsafe { load(text.as_ptr().add(base), end - base) };
        prefetch_place(text.as_ptr().wrapping_add(base + AHEAD));
        let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
        let moved = _mm512_sub_epi8(folded, _mm512_set1_epi8(b'a' as i8));
        let mut letters = _mm512_cmplt_epu8_mask(moved, _mm512_set1_epi8(26));
        let stops = _mm512_mask_cmpeq_epi8_mask(stop_mask, bytes, stop);
        if stops != 0 {
            letters &= !stops & (stops - 1);
            end = base + stops.trailing_zeros() as usize;
        }
        let before = letters << 1 | carry;
        carry = letters >> 63;
        let fives = _mm512_and_si512(bytes, _mm512_set1_epi8(31));
        // SAFETY: `base` is at most `WINDOW_BYTES`, and the padding has 128 bytes, so `base + 64`
        // is in `words.text`. `borders` has space for the words of a window and 64 more: for 128
        // borders after those of a window.
        unsafe {
            _mm512_store_si512(words.text.as_mut_ptr().add(base).cast(), fives);
            let borders = words.borders.as_mut_ptr().cast::<u16>().add(count);
            count += positions(letters ^ before, base, borders);
        }
        base += 64;
    }
    (words.len, words.long_len) = (count / 2, 0);
    for first in (0..words.len).step_by(8) {
        // SAFETY: each array has eight entries from `first` on. Those after the last word hold
        // positions of this or an earlier window, or zero, so all are within the window.
        unsafe { keys(words, first) };
    }
    end
}

/// The first 64 of `len` bytes, with zeros after them if there are fewer.
///
/// # Safety
/// `bytes` must be valid for reading `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(bytes: *const u8, len: usize) -> __m512i {
    let present = if len < 64 { (1 << len) - 1 } else { u64::MAX };
    // SAFETY: the mask selects only bytes that the caller guarantees to be valid.
    unsafe { _mm512_maskz_loadu_epi8(present, bytes.cast()) }
}

/// Computes the keys of the eight words from `first` on.
///
/// # Safety
/// Each array must have eight entries from `first` on, with positions within the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn keys(words: &mut Words, first: usize) {
    // SAFETY: `borders` has eight entries from `first` on, 32 bytes.
    let borders = unsafe { _mm256_loadu_si256(words.borders.as_ptr().add(first).cast()) };
    // In each 32 bits: the end above the start, and then the length.
    let lengths =
        _mm256_srli_epi32::<16>(_mm256_sub_epi16(borders, _mm256_slli_epi32::<16>(borders)));
    let lengths = _mm256_min_epu32(lengths, _mm256_set1_epi32(64));
    // SAFETY: `borders` has eight entries from `first` on, with positions in the window.
    let (low, high) = unsafe {
        (
            packed_letters(words, first, lengths, 0),
            packed_letters(words, first + 4, lengths, 16),
        )
    };
    // For each word: letters 1 to 4 and 5 to 8 in `heads`, 9 to 12 in `tails`.
    let heads = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), high);
    let tails = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), high);
    let first_four = _mm512_slli_epi64::<40>(heads);
    let next_four = _mm512_slli_epi64::<20>(_mm512_srli_epi64::<32>(heads));
    let short = _mm512_ternarylogic_epi64::<0xfe>(first_four, next_four, tails);
    let long = _mm256_cmpgt_epu32_mask(lengths, _mm256_set1_epi32(KEY_LETTERS as i32));
    let keys = _mm512_mask_mov_epi64(short, long, _mm512_set1_epi64(LONG as i64));
    // SAFETY: `keys` has eight entries from `first` on, 64 bytes.
    unsafe { _mm512_storeu_si512(words.keys.as_mut_ptr().add(first).cast(), keys) };
    if long != 0 {
        list_long(words, first, long);
    }
}

/// Lists the words from `first` on whose bit is set in `long`, up to the last word.
#[cold]
fn list_long(words: &mut Words, first: usize, long: u8) {
    for ordinal in
        (first..words.len.min(first + 8)).filter(|ordinal| long >> (ordinal - first) & 1 == 1)
    {
        words.long[words.long_len] = ordinal as u16;
        words.long_len += 1;
    }
}

/// Packs four words of up to sixteen letters: five bits per letter, four letters (20 bits) in each
/// 32 bits.
///
/// `lengths` has eight 32-bit lengths; those of the four words start at byte `lengths_at`.
///
/// # Safety
/// `borders` must have four entries from `first` on, with positions within the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn packed_letters(words: &Words, first: usize, lengths: __m256i, lengths_at: i8) -> __m512i {
    // SAFETY: `borders` has four entries from `first` on. Their positions are in the window, and the
    // padding allows reads of sixteen bytes at each.
    let sixteen = |ordinal: usize| unsafe {
        let start = usize::from(words.borders.get_unchecked(first + ordinal)[0]);
        _mm_loadu_si128(words.text.as_ptr().add(start).cast())
    };
    let lower = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(sixteen(0)), sixteen(1));
    let upper = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(sixteen(2)), sixteen(3));
    let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower), upper);
    let spread = _mm512_add_epi8(lane_numbers(), _mm512_set1_epi8(lengths_at));
    let length = _mm512_permutexvar_epi8(spread, _mm512_castsi256_si512(lengths));
    let place = _mm512_broadcast_i32x4(_mm512_castsi512_si128(iota()));
    let inside = _mm512_cmplt_epu8_mask(place, length);
    let fives = _mm512_maskz_mov_epi8(inside, bytes);
    let tens = _mm512_maddubs_epi16(fives, _mm512_set1_epi16(0x0120));
    _mm512_madd_epi16(tens, _mm512_set1_epi32(0x0001_0400))
}

/// For each byte, four times the number of its 16-byte lane: the offset of the length of its word.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_numbers() -> __m512i {
    _mm512_set_epi64(
        0x0c0c_0c0c_0c0c_0c0c,
        0x0c0c_0c0c_0c0c_0c0c,
        0x0808_0808_0808_0808,
        0x0808_0808_0808_0808,
        0x0404_0404_0404_0404,
        0x0404_0404_0404_0404,
        0,
        0,
    )
}
