//! NEON: folding and run borders by two table lookups for each byte; hashes one by one.

use std::arch::aarch64::*;

use super::scalar;
use super::window::{BLOCKS, Class, HEAD, Runs, joined};
use crate::kernel::neon::{bits, load, positions};

// The kinds of bytes. Each kind is the bytes that have its bit in the entry of their upper four bits
// in `UPPER` and in that of their lower four bits in `LOWER`.
/// `A` to `O` and `a` to `o`.
const FIRST_LETTERS: u8 = 1;
/// `P` to `Z` and `p` to `z`.
const LAST_LETTERS: u8 = 1 << 1;
const DIGITS: u8 = 1 << 2;
const BEYOND: u8 = 1 << 3;
const LOW_LINE: u8 = 1 << 4;
/// `' " . ,` and `: ;`: what may join two runs.
const FIRST_JOINTS: u8 = 1 << 5;
const LAST_JOINTS: u8 = 1 << 6;

const LETTERS: u8 = FIRST_LETTERS | LAST_LETTERS;
const JOINTS: u8 = FIRST_JOINTS | LAST_JOINTS;

const UPPER: [u8; 16] = {
    let mut kinds = [BEYOND; 16];
    let mut upper = 0;
    while upper < 8 {
        kinds[upper] = match upper {
            2 => FIRST_JOINTS,
            3 => DIGITS | LAST_JOINTS,
            4 | 6 => FIRST_LETTERS,
            5 => LAST_LETTERS | LOW_LINE,
            7 => LAST_LETTERS,
            _ => 0,
        };
        upper += 1;
    }
    kinds
};

const LOWER: [u8; 16] = {
    let mut kinds = [BEYOND; 16];
    let mut lower = 0;
    while lower < 16 {
        if lower >= 1 {
            kinds[lower] |= FIRST_LETTERS;
        }
        if lower <= 10 {
            kinds[lower] |= LAST_LETTERS;
        }
        if lower <= 9 {
            kinds[lower] |= DIGITS;
        }
        kinds[lower] |= match lower {
            2 | 7 | 12 | 14 => FIRST_JOINTS,
            10 | 11 => LAST_JOINTS,
            15 => LOW_LINE,
            _ => 0,
        };
        lower += 1;
    }
    kinds
};

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn find(runs: &mut Runs) {
    let (mut starts, mut ends, mut carry, mut alone_before) = (0, 0, 0, 0);
    let stands_alone = match runs.class {
        Class::Letters => LETTERS,
        Class::LettersDigitsAndBeyond => LETTERS | DIGITS | BEYOND,
        Class::Joined => LETTERS | DIGITS | BEYOND | LOW_LINE,
    };
    // A bit for each byte that makes its run apart.
    let mut odd = [0u64; BLOCKS];
    // One block more than the text: a run may end at the end of the text.
    for base in (0..=runs.text_len).step_by(64) {
        let Some(block) = runs.padded[HEAD + base..].first_chunk_mut() else {
            break;
        };
        let kinds = fold(block);
        let mut inside = of_kind(kinds, stands_alone);
        odd[base / 64] = of_kind(kinds, BEYOND);
        if runs.class == Class::Joined {
            let (alone, joints) = (inside, of_kind(kinds, JOINTS));
            let next = runs.class.stands_alone(runs.padded[HEAD + base + 64]);
            inside = joined(alone, joints, alone_before, next);
            alone_before = alone >> 63;
            odd[base / 64] |= of_kind(kinds, LOW_LINE) | joints;
        }
        odd[base / 64] &= inside;
        let before = inside << 1 | carry;
        carry = inside >> 63;
        starts = positions(inside & !before, base, &mut runs.starts, starts);
        ends = positions(!inside & before, base, &mut runs.ends, ends);
    }
    runs.len = starts;
    scalar::hash_without(runs, &odd);
}

/// Folds 64 bytes in place; returns their kinds.
#[inline]
#[target_feature(enable = "neon")]
fn fold(block: &mut [u8; 64]) -> [uint8x16_t; 4] {
    // SAFETY: each table has sixteen bytes; the loads need no alignment.
    let (upper, lower) = unsafe { (vld1q_u8(UPPER.as_ptr()), vld1q_u8(LOWER.as_ptr())) };
    let vectors = load(block);
    let kinds = vectors.map(|bytes| {
        vandq_u8(
            vqtbl1q_u8(upper, vshrq_n_u8::<4>(bytes)),
            vqtbl1q_u8(lower, vandq_u8(bytes, vdupq_n_u8(15))),
        )
    });
    let (chunks, _) = block.as_chunks_mut::<16>();
    for ((bytes, kinds), chunk) in vectors.into_iter().zip(kinds).zip(chunks) {
        let letters = vtstq_u8(kinds, vdupq_n_u8(LETTERS));
        let folded = vorrq_u8(bytes, vandq_u8(letters, vdupq_n_u8(0x20)));
        // SAFETY: a chunk has sixteen bytes; the store needs no alignment.
        unsafe { vst1q_u8(chunk.as_mut_ptr(), folded) };
    }
    kinds
}

/// A bit for each byte that is of one of some kinds.
#[inline]
#[target_feature(enable = "neon")]
fn of_kind(kinds: [uint8x16_t; 4], some: u8) -> u64 {
    bits(kinds.map(|kinds| vtstq_u8(kinds, vdupq_n_u8(some))))
}
