//! AVX2: a vector is four lanes of 64 columns, expanded to a byte per bit.

use std::arch::x86_64::*;

use super::counts::{ColumnCounts, MAX_COLUMNS};
use crate::kernel::avx2::add_half;
use crate::kernel::hamming::Fingerprint;

/// The number of lanes in a vector.
const WIDTH: usize = 4;
/// The number of vectors in a block.
const VECTORS: usize = 16;
/// The number of lanes in a block.
const BLOCK: usize = WIDTH * VECTORS;
/// The number of blocks that a byte counter of sixteens holds: each adds at most four.
const BLOCKS: usize = 63;

/// One byte per column.
type Bytes = [__m256i; 2];

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn count<F: Fingerprint>(words: &[F], counts: &mut ColumnCounts) {
    let lanes = bytemuck::cast_slice(words);
    match size_of::<F>() {
        8 => count_lanes::<1>(lanes, counts),
        _ => count_lanes::<2>(lanes, counts),
    }
}

/// Adds lane i of `words` to the columns of lane i mod LANES.
#[target_feature(enable = "avx2")]
fn count_lanes<const LANES: usize>(words: &[u64], counts: &mut ColumnCounts) {
    let (blocks, rest) = words.as_chunks::<BLOCK>();
    // Bit-sliced counts of each lane: ones, twos, fours, eights.
    let mut slices = [_mm256_setzero_si256(); 4];
    for few in blocks.chunks(BLOCKS) {
        let mut sixteens = [zero(); LANES];
        for block in few {
            add_bits(add_block(block, &mut slices), &mut sixteens);
        }
        widen::<LANES>(&sixteens, 16, counts);
    }
    if !rest.is_empty() {
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let mut sixteens = [zero(); LANES];
        add_bits(add_block(&last, &mut slices), &mut sixteens);
        widen::<LANES>(&sixteens, 16, counts);
    }
    // Eights first, so that doubling weights every slice. At most 4 (1 + 2 + 4 + 8) = 60 fits a
    // byte.
    let mut bytes = [zero(); LANES];
    for slice in slices.into_iter().rev() {
        for half in bytes.as_flattened_mut() {
            *half = _mm256_add_epi8(*half, *half);
        }
        add_bits(slice, &mut bytes);
    }
    widen::<LANES>(&bytes, 1, counts);
}

/// Adds sixteen vectors to `slices`; returns the carry out of the eights.
#[inline]
#[target_feature(enable = "avx2")]
fn add_block(block: &[u64; BLOCK], slices: &mut [__m256i; 4]) -> __m256i {
    let [ones, twos, fours, eights] = slices;
    let load = |vector: usize| {
        let place = block[vector * WIDTH..][..WIDTH].as_ptr();
        // SAFETY: the slice has four lanes, 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(place.cast()) }
    };
    let mut carry_4 = [_mm256_setzero_si256(); 2];
    for (half, carry_4) in carry_4.iter_mut().enumerate() {
        let mut carry_3 = [_mm256_setzero_si256(); 2];
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
#[target_feature(enable = "avx2")]
fn add(sum: &mut __m256i, a: __m256i, b: __m256i) -> __m256i {
    let half = _mm256_xor_si256(*sum, a);
    let carry = _mm256_or_si256(_mm256_and_si256(*sum, a), _mm256_and_si256(half, b));
    *sum = _mm256_xor_si256(half, b);
    carry
}

#[inline]
#[target_feature(enable = "avx2")]
fn zero() -> Bytes {
    [_mm256_setzero_si256(); 2]
}

/// Adds one to the byte of each column whose bit is set in a lane.
#[inline]
#[target_feature(enable = "avx2")]
fn add_bits<const LANES: usize>(vector: __m256i, bytes: &mut [Bytes; LANES]) {
    let mut lanes = [0u64; WIDTH];
    // SAFETY: the array is 32 bytes.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
    for lanes in lanes.chunks_exact(LANES) {
        for (bytes, &lane) in bytes.iter_mut().zip(lanes) {
            bytes[0] = add_half(bytes[0], lane as u32);
            bytes[1] = add_half(bytes[1], (lane >> 32) as u32);
        }
    }
}

/// Adds each byte, times `weight`, to its count.
#[inline]
#[target_feature(enable = "avx2")]
fn widen<const LANES: usize>(bytes: &[Bytes; LANES], weight: u32, counts: &mut ColumnCounts) {
    let halves = bytes.as_flattened().iter();
    for (half, counts) in halves.zip(counts.0.chunks_exact_mut(MAX_COLUMNS / 4)) {
        let mut ones = [0u8; 32];
        // SAFETY: the array is 32 bytes.
        unsafe { _mm256_storeu_si256(ones.as_mut_ptr().cast(), *half) };
        for (count, ones) in counts.iter_mut().zip(ones) {
            *count += weight * u32::from(ones);
        }
    }
}
