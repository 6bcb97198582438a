//! AVX2 and BMI1: folding and run borders by comparisons of 32 bytes; hashes one by one.

use std::arch::x86_64::*;

use super::scalar;
use super::window::{BLOCKS, Class, HEAD, Runs, joined};
use crate::kernel::avx2::positions;

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn find(runs: &mut Runs) {
    let (mut starts, mut ends, mut carry, mut alone_before) = (0, 0, 0, 0);
    let others = match runs.class {
        Class::Letters => 0,
        Class::LettersDigitsAndBeyond | Class::Joined => -1,
    };
    // A bit for each byte that makes its run apart.
    let mut odd = [0u64; BLOCKS];
    // One block more than the text: a run may end at the end of the text.
    for base in (0..=runs.text_len).step_by(64) {
        // SAFETY: `base` is at most `WINDOW_BYTES`, and the padding has 128 bytes, so the block is
        // in `padded`.
        let (mut inside, mut marked) = unsafe {
            let block = runs.padded.as_mut_ptr().add(HEAD + base);
            let (low, high) = (fold(block, others), fold(block.add(32), others));
            (low.0 | high.0 << 32, low.1 | high.1 << 32)
        };
        if runs.class == Class::Joined {
            // SAFETY: the block is in `padded`, as for `fold`.
            let (low_lines, joints) = unsafe {
                let block = runs.padded.as_ptr().add(HEAD + base);
                let (low, high) = (marks(block), marks(block.add(32)));
                (low.0 | high.0 << 32, low.1 | high.1 << 32)
            };
            let alone = inside | low_lines;
            let next = runs.class.stands_alone(runs.padded[HEAD + base + 64]);
            inside = joined(alone, joints, alone_before, next);
            alone_before = alone >> 63;
            marked |= low_lines | joints;
        }
        odd[base / 64] = inside & marked;
        let before = inside << 1 | carry;
        carry = inside >> 63;
        starts = positions(inside & !before, base, &mut runs.starts, starts);
        ends = positions(!inside & before, base, &mut runs.ends, ends);
    }
    runs.len = starts;
    scalar::hash_without(runs, &odd);
}

/// Folds 32 bytes in place; returns a bit for each that belongs to the class, and one for each that
/// is not ASCII.
///
/// # Safety
/// `block` must be valid for reading and writing 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn fold(block: *mut u8, others: i8) -> (u64, u64) {
    // SAFETY: the caller guarantees that `block` is valid for reading 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(block.cast()) };
    let capitals = below(bytes, b'A', 26);
    let folded = _mm256_or_si256(bytes, _mm256_and_si256(capitals, _mm256_set1_epi8(0x20)));
    // SAFETY: the caller guarantees that `block` is valid for writing 32 bytes.
    unsafe { _mm256_storeu_si256(block.cast(), folded) };
    // Only the sign bit is used.
    let beyond = _mm256_or_si256(bytes, below(bytes, b'0', 10));
    let others = _mm256_and_si256(beyond, _mm256_set1_epi8(others));
    let inside = _mm256_or_si256(below(folded, b'a', 26), others);
    let bits = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32);
    (bits(inside), bits(bytes))
}

/// A bit for each of 32 bytes that is an underscore, and one for each that may join two runs.
///
/// # Safety
/// `block` must be valid for reading 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn marks(block: *const u8) -> (u64, u64) {
    // SAFETY: the caller guarantees that `block` is valid for reading 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(block.cast()) };
    let is = |byte: u8| {
        let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
        u64::from(_mm256_movemask_epi8(equal) as u32)
    };
    let joints = is(b'\'') | is(b'"') | is(b'.') | is(b',') | is(b':') | is(b';');
    (is(b'_'), joints)
}

/// The bytes in `first..first + count`.
#[inline]
#[target_feature(enable = "avx2")]
fn below(bytes: __m256i, first: u8, count: u8) -> __m256i {
    // A signed comparison is enough if `first` is shifted to the smallest signed value.
    let moved = _mm256_sub_epi8(bytes, _mm256_set1_epi8((first ^ 0x80) as i8));
    _mm256_cmpgt_epi8(_mm256_set1_epi8((0x80 ^ count) as i8), moved)
}
