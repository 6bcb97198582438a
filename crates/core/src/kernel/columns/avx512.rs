//! AVX-512: a vector is eight lanes of 64 columns, and a lane is used as a mask.

use std::arch::x86_64::*;

use super::counts::{ColumnCounts, MAX_COLUMNS};
use crate::kernel::hamming::Fingerprint;

/// The number of lanes in a vector.
const WIDTH: usize = 8;
/// The number of vectors in a block.
const VECTORS: usize = 16;
/// The number of lanes in a block.
const BLOCK: usize = WIDTH * VECTORS;
/// The number of blocks that a byte counter of sixteens holds: each adds at most eight.
const BLOCKS: usize = 31;

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn count<F: Fingerprint>(words: &[F], counts: &mut ColumnCounts) {
    let lanes = bytemuck::cast_slice(words);
    match size_of::<F>() {
        8 => count_lanes::<1>(lanes, counts),
        _ => count_lanes::<2>(lanes, counts),
    }
}

/// The columns with a count above `bound`, as bits.
///
/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn above(counts: &ColumnCounts, bound: u32) -> u128 {
    let bound = _mm512_set1_epi32(bound as i32);
    (counts.0.chunks_exact(16).zip(0..)).fold(0, |bits, (counts, part)| {
        // SAFETY: a chunk is sixteen counts, 64 bytes.
        let counts = unsafe { _mm512_loadu_si512(counts.as_ptr().cast()) };
        bits | u128::from(_mm512_cmpgt_epu32_mask(counts, bound)) << (16 * part)
    })
}

/// Adds lane i of `words` to the columns of lane i mod LANES.
#[target_feature(enable = "avx512f,avx512bw")]
fn count_lanes<const LANES: usize>(words: &[u64], counts: &mut ColumnCounts) {
    let (blocks, rest) = words.as_chunks::<BLOCK>();
    // Bit-sliced counts of each lane: ones, twos, fours, eights.
    let mut slices = [_mm512_setzero_si512(); 4];
    for few in blocks.chunks(BLOCKS) {
        let mut sixteens = [_mm512_setzero_si512(); LANES];
        for block in few {
            add_bits(add_block(block, &mut slices), 1, &mut sixteens);
        }
        widen::<4, LANES>(&sixteens, counts);
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let mut ones = [_mm512_setzero_si512(); LANES];
    let mut sixteens = [_mm512_setzero_si512(); LANES];
    if !rest.is_empty() {
        add_bits(add_block(&last, &mut slices), 1, &mut sixteens);
        widen::<4, LANES>(&sixteens, counts);
    }
    for (slice, place) in slices.into_iter().zip(0..) {
        add_bits(slice, 1 << place, &mut ones);
    }
    widen::<0, LANES>(&ones, counts);
}

/// Adds sixteen vectors to `slices`; returns the carry out of the eights.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_block(block: &[u64; BLOCK], slices: &mut [__m512i; 4]) -> __m512i {
    let [ones, twos, fours, eights] = slices;
    let load = |vector: usize| {
        let place = block[vector * WIDTH..][..WIDTH].as_ptr();
        // SAFETY: the slice has eight lanes, 64 bytes; the load needs no alignment.
        unsafe { _mm512_loadu_si512(place.cast()) }
    };
    let mut carry_4 = [_mm512_setzero_si512(); 2];
    for (half, carry_4) in carry_4.iter_mut().enumerate() {
        let mut carry_3 = [_mm512_setzero_si512(); 2];
        for (quarter, carry_3) in carry_3.iter_mut().enumerate() {
            let first = 8 * half + 4 * quarter;
            let carry_1 = add(ones, load(first), load(first + 1));
            let carry_2 = add(ones, load(first + 2), load(first + 3));
            *carry_3 = add(twos, carry_1, carry_2);
        }
        *carry_4 = add(fours, carry_3[0], carry_3[1]);
    }
    add(eights, carry_4[0], carry_4[1])
}

/// Adds two bits to each bit of `sum`; returns the carries.
#[inline]
#[target_feature(enable = "avx512f")]
fn add(sum: &mut __m512i, a: __m512i, b: __m512i) -> __m512i {
    let carry = _mm512_ternarylogic_epi64::<0xE8>(*sum, a, b);
    *sum = _mm512_ternarylogic_epi64::<0x96>(*sum, a, b);
    carry
}

/// Adds `weight` to the byte of each column whose bit is set in a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_bits<const LANES: usize>(lanes: __m512i, weight: i8, bytes: &mut [__m512i; LANES]) {
    let mut masks = [0u64; WIDTH];
    // SAFETY: the array has 64 bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(masks.as_mut_ptr().cast(), lanes) };
    let weight = _mm512_set1_epi8(weight);
    for masks in masks.chunks_exact(LANES) {
        for (bytes, &mask) in bytes.iter_mut().zip(masks) {
            *bytes = _mm512_mask_add_epi8(*bytes, mask, *bytes, weight);
        }
    }
}

/// Adds each byte, times 2^SHIFT, to its count.
#[inline]
#[target_feature(enable = "avx512f")]
fn widen<const SHIFT: u32, const LANES: usize>(
    bytes: &[__m512i; LANES],
    counts: &mut ColumnCounts,
) {
    for (bytes, counts) in bytes.iter().zip(counts.0.chunks_exact_mut(MAX_COLUMNS / 2)) {
        let quarters = [
            _mm512_extracti32x4_epi32::<0>(*bytes),
            _mm512_extracti32x4_epi32::<1>(*bytes),
            _mm512_extracti32x4_epi32::<2>(*bytes),
            _mm512_extracti32x4_epi32::<3>(*bytes),
        ];
        for (counts, quarter) in counts.chunks_exact_mut(16).zip(quarters) {
            let added = _mm512_slli_epi32::<SHIFT>(_mm512_cvtepu8_epi32(quarter));
            let place = counts.as_mut_ptr().cast();
            // SAFETY: a chunk is sixteen counts, 64 bytes.
            unsafe {
                _mm512_storeu_si512(place, _mm512_add_epi32(_mm512_loadu_si512(place), added));
            }
        }
    }
}
