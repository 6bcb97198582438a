//! NEON: run borders by comparisons of 64 bytes, keys two words at a time.

use std::arch::aarch64::*;

use super::{KEY_LETTERS, LONG, Words};
use crate::kernel::neon::{bits, load, positions};

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn find(words: &mut Words, text: &[u8], stop: Option<u8>) -> usize {
    let end = words.copy(text, stop);
    let (mut count, mut carry) = (0, 0);
    let borders = words.borders.as_flattened_mut();
    // One block more than the text: a word may end at the end of the text.
    let blocks = &words.text.as_chunks::<64>().0[..=end / 64];
    for (block, base) in blocks.iter().zip((0..).step_by(64)) {
        let letters = bits(load(block).map(|bytes| {
            let folded = vorrq_u8(bytes, vdupq_n_u8(0x20));
            vcltq_u8(vsubq_u8(folded, vdupq_n_u8(b'a')), vdupq_n_u8(26))
        }));
        let before = letters << 1 | carry;
        carry = letters >> 63;
        count = positions(letters ^ before, base, borders, count);
    }
    (words.len, words.long_len) = (count / 2, 0);
    let pairs = words.borders.as_chunks::<2>().0.iter();
    let pairs = pairs.zip(words.keys.as_chunks_mut::<2>().0);
    for ((borders, keys), first) in pairs.zip((0..words.len).step_by(2)) {
        // What stands after the last word gives a key that is not used.
        let lengths = borders.map(|[start, end]| usize::from(end.wrapping_sub(start)));
        let forties = [0, 1].map(|word| {
            let kept = &KEEP[lengths[word].min(KEY_LETTERS)];
            // SAFETY: borders are at most `WINDOW_BYTES`, those after the last word too: they are
            // zero or of an earlier window. The padding has 128 bytes, so the sixteen bytes are in
            // `text`. An entry of `KEEP` has sixteen bytes. The loads need no alignment.
            let (letters, kept) = unsafe {
                let start = usize::from(borders[word][0]);
                (
                    vld1q_u8(words.text.as_ptr().add(start)),
                    vld1q_u8(kept.as_ptr()),
                )
            };
            packed(vandq_u8(letters, kept))
        });
        // For each word: letters 1 to 8 in `heads`, 9 to 16 in `tails`.
        let heads = vzip1q_u64(forties[0], forties[1]);
        let tails = vzip2q_u64(forties[0], forties[1]);
        let packed = vsliq_n_u64::<20>(vshrq_n_u64::<20>(tails), heads);
        let packed = vandq_u64(packed, vdupq_n_u64((1 << (5 * KEY_LETTERS)) - 1));
        // SAFETY: two keys are sixteen bytes; the store needs no alignment.
        unsafe { vst1q_u64(keys.as_mut_ptr(), packed) };
        if lengths[0].max(lengths[1]) > KEY_LETTERS {
            for ((key, length), ordinal) in keys.iter_mut().zip(lengths).zip(first..words.len) {
                if length > KEY_LETTERS {
                    *key = LONG;
                    words.long[words.long_len] = ordinal as u16;
                    words.long_len += 1;
                }
            }
        }
    }
    end
}

/// Packs numbers of five bits, eight to the low 40 bits of each half, the first one highest. The
/// bits above are arbitrary.
#[inline]
#[target_feature(enable = "neon")]
fn packed(fives: uint8x16_t) -> uint64x2_t {
    // Each step moves the first of two neighbours to the bits above those of the second.
    let fives = vreinterpretq_u16_u8(fives);
    let tens = vsliq_n_u16::<5>(vshrq_n_u16::<8>(fives), fives);
    let tens = vreinterpretq_u32_u16(tens);
    let twenties = vsliq_n_u32::<10>(vshrq_n_u32::<16>(tens), tens);
    let twenties = vreinterpretq_u64_u32(twenties);
    vsliq_n_u64::<20>(vshrq_n_u64::<32>(twenties), twenties)
}

/// For each number of letters, a mask of the lower five bits of each.
const KEEP: [[u8; 16]; KEY_LETTERS + 1] = {
    let mut keep = [[0; 16]; KEY_LETTERS + 1];
    let mut letters = 1;
    while letters <= KEY_LETTERS {
        keep[letters] = keep[letters - 1];
        keep[letters][letters - 1] = 31;
        letters += 1;
    }
    keep
};
