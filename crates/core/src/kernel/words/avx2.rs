//! AVX2 and BMI2: run borders by comparisons of 32 bytes, keys by `pext`.

use std::arch::x86_64::*;

use super::{KEY_LETTERS, LONG, Words};
use crate::kernel::avx2::positions;

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn find(words: &mut Words, text: &[u8], stop: Option<u8>) -> usize {
    let end = words.copy(text, stop);
    let (mut count, mut carry) = (0, 0);
    // One block more than the text: a word may end at the end of the text.
    for base in (0..=end).step_by(64) {
        // SAFETY: `base` is at most `WINDOW_BYTES`, and the padding has 128 bytes, so `base + 64`
        // is in `text`.
        let block = unsafe { words.text.as_ptr().add(base) };
        // SAFETY: the 64 bytes from `block` on are in `text`.
        let letters = unsafe { letters(block) | letters(block.add(32)) << 32 };
        let before = letters << 1 | carry;
        carry = letters >> 63;
        let borders = words.borders.as_flattened_mut();
        count = positions(letters ^ before, base, borders, count);
    }
    (words.len, words.long_len) = (count / 2, 0);
    for ordinal in 0..words.len {
        let [start, end] = words.borders[ordinal].map(usize::from);
        let letters = end - start;
        words.keys[ordinal] = if letters > KEY_LETTERS {
            words.long[words.long_len] = ordinal as u16;
            words.long_len += 1;
            LONG
        } else {
            key(&words.text, start, letters)
        };
    }
    end
}

/// A bit for each of 32 bytes that is a letter.
///
/// # Safety
/// `block` must be valid for reading 32 bytes.
#[target_feature(enable = "avx2")]
unsafe fn letters(block: *const u8) -> u64 {
    // SAFETY: the caller guarantees that `block` is valid for reading 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(block.cast()) };
    let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    // A signed comparison is enough if `a` is shifted to the smallest signed value.
    let moved = _mm256_sub_epi8(folded, _mm256_set1_epi8((b'a' ^ 0x80) as i8));
    let letters = _mm256_cmpgt_epi8(_mm256_set1_epi8((0x80 ^ 26) as u8 as i8), moved);
    u64::from(_mm256_movemask_epi8(letters) as u32)
}

#[inline]
#[target_feature(enable = "bmi2")]
fn key(text: &[u8], start: usize, letters: usize) -> u64 {
    let head = read_u64(text, start) & KEEP[letters].0;
    let tail = read_u64(text, start + 8) & KEEP[letters].1;
    let five = 0x1f1f_1f1f_1f1f_1f1f;
    _pext_u64(head, five) << 20 | _pext_u64(tail, five) >> 20
}

#[inline]
fn read_u64(text: &[u8], start: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&text[start..start + 8]);
    u64::from_be_bytes(bytes)
}

/// For each number of letters, masks of their bytes in two big-endian words.
const KEEP: [(u64, u64); KEY_LETTERS + 1] = {
    let mut keep = [(0, 0); KEY_LETTERS + 1];
    let mut letters = 1;
    while letters <= KEY_LETTERS {
        keep[letters] = match letters {
            ..=8 => (!0 << (64 - 8 * letters), 0),
            _ => (!0, !0 << (128 - 8 * letters)),
        };
        letters += 1;
    }
    keep
};
