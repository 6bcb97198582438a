//! NEON functions that several kernels use.

use std::arch::aarch64::*;

/// Appends the positions of the bits of `mask`; returns the new count.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn positions(mask: u64, base: usize, places: &mut [u16], mut count: usize) -> usize {
    let total = count + mask.count_ones() as usize;
    // From the highest bit on, a position is one instruction.
    let mut mask = mask.reverse_bits();
    // Four at a time, as for AVX2. Surplus entries are overwritten.
    while count < total {
        for place in &mut places[count..count + 4] {
            let bit = mask.leading_zeros();
            *place = (base + bit as usize) as u16;
            mask &= !(1 << 63 >> (bit & 63));
        }
        count += 4;
    }
    total
}

/// The four vectors of a block.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load(block: &[u8; 64]) -> [uint8x16_t; 4] {
    let (vectors, _) = block.as_chunks::<16>();
    // SAFETY: each chunk has sixteen bytes; the load needs no alignment.
    std::array::from_fn(|vector| unsafe { vld1q_u8(vectors[vector].as_ptr()) })
}

/// A bit for each of 64 bytes, which are all 0 or 255.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn bits(bytes: [uint8x16_t; 4]) -> u64 {
    let bit_of_byte = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
    let [a, b, c, d] = bytes.map(|bytes| vandq_u8(bytes, bit_of_byte));
    // Three sums of neighbours make one byte of eight.
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// The number of vectors in a block of [`BitColumns`].
const VECTORS: usize = 16;
/// The number of words in a block of [`BitColumns`].
pub(super) const BLOCK: usize = 2 * VECTORS;
/// The number of blocks that a byte counter of sixteens holds: each adds at most two.
const BLOCKS: usize = 127;

/// A byte for each of 64 columns.
type Bytes = [uint8x16_t; 4];

/// How often each of 64 × LANES columns is set in rows of LANES words, LANES 1 or 2.
///
/// Sixteen vectors of two words are reduced to one by carry-save adders; only that one is expanded
/// to a byte for each bit.
pub(super) struct BitColumns<const LANES: usize> {
    /// Bit-sliced counts: ones, twos, fours, eights.
    slices: [uint8x16_t; 4],
    sixteens: [Bytes; LANES],
    blocks: usize,
}

impl<const LANES: usize> BitColumns<LANES> {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn new() -> Self {
        BitColumns {
            slices: [vdupq_n_u8(0); 4],
            sixteens: [[vdupq_n_u8(0); 4]; LANES],
            blocks: 0,
        }
    }

    /// Adds the rows of a block; adds to `counts` what bytes do not hold.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn add(&mut self, block: &[u64; BLOCK], counts: &mut [u32; 128]) {
        let (vectors, _) = block.as_chunks::<2>();
        // SAFETY: each chunk has two words; the load needs no alignment.
        let load = |at: usize| unsafe { vreinterpretq_u8_u64(vld1q_u64(vectors[at].as_ptr())) };
        let [ones, twos, fours, eights] = &mut self.slices;
        let mut carry_4 = [vdupq_n_u8(0); 2];
        for (half, carry_4) in carry_4.iter_mut().enumerate() {
            let mut carry_3 = [vdupq_n_u8(0); 2];
            for (quarter, carry_3) in carry_3.iter_mut().enumerate() {
                let first = 8 * half + 4 * quarter;
                let carry_1 = add(ones, load(first), load(first + 1));
                let carry_2 = add(ones, load(first + 2), load(first + 3));
                *carry_3 = add(twos, carry_1, carry_2);
            }
            *carry_4 = add(fours, carry_3[0], carry_3[1]);
        }
        add_bits(add(eights, carry_4[0], carry_4[1]), &mut self.sixteens);
        self.blocks += 1;
        if self.blocks == BLOCKS {
            self.widen_sixteens(counts);
        }
    }

    /// Adds what is left to `counts`.
    #[target_feature(enable = "neon")]
    pub(super) fn finish(mut self, counts: &mut [u32; 128]) {
        self.widen_sixteens(counts);
        // Eights first, so that doubling weights every slice. At most 2 (1 + 2 + 4 + 8) = 30 fits a
        // byte.
        let mut bytes = [[vdupq_n_u8(0); 4]; LANES];
        for slice in self.slices.into_iter().rev() {
            for bytes in bytes.as_flattened_mut() {
                *bytes = vaddq_u8(*bytes, *bytes);
            }
            add_bits(slice, &mut bytes);
        }
        widen(&bytes, 1, counts);
    }

    #[target_feature(enable = "neon")]
    fn widen_sixteens(&mut self, counts: &mut [u32; 128]) {
        widen(&self.sixteens, 16, counts);
        self.sixteens = [[vdupq_n_u8(0); 4]; LANES];
        self.blocks = 0;
    }
}

/// Adds two bits to each bit of `sum`; returns the carries.
#[inline]
#[target_feature(enable = "neon")]
fn add(sum: &mut uint8x16_t, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    let half = veorq_u8(*sum, a);
    let carry = vbslq_u8(half, b, a);
    *sum = veorq_u8(half, b);
    carry
}

/// Adds one to the byte of each column whose bit is set in a word.
#[inline]
#[target_feature(enable = "neon")]
fn add_bits<const LANES: usize>(vector: uint8x16_t, bytes: &mut [Bytes; LANES]) {
    let bit_of_column = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
    for pair in 0..8 {
        let byte_of_column = vcombine_u8(vdup_n_u8(2 * pair), vdup_n_u8(2 * pair + 1));
        let expanded = vqtbl1q_u8(vector, byte_of_column);
        let bytes = &mut bytes[usize::from(pair) / 4 % LANES][usize::from(pair) % 4];
        *bytes = vsubq_u8(*bytes, vtstq_u8(expanded, bit_of_column));
    }
}

/// Adds each byte, times `weight`, to its count.
#[inline]
#[target_feature(enable = "neon")]
fn widen<const LANES: usize>(bytes: &[Bytes; LANES], weight: u32, counts: &mut [u32; 128]) {
    for (bytes, counts) in bytes.as_flattened().iter().zip(counts.chunks_exact_mut(16)) {
        let mut ones = [0u8; 16];
        // SAFETY: the array has sixteen bytes; the store needs no alignment.
        unsafe { vst1q_u8(ones.as_mut_ptr(), *bytes) };
        for (count, ones) in counts.iter_mut().zip(ones) {
            *count += weight * u32::from(ones);
        }
    }
}
