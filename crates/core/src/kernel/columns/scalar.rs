//! The scalar version: the oracle.

use super::counts::{ColumnCounts, MAX_COLUMNS};
use crate::kernel::hamming::Fingerprint;

/// The number of additions that a byte holds.
const BYTE_ADDITIONS: usize = 255;
/// The lowest bit of each byte.
const LOW_BITS: u64 = 0x0101_0101_0101_0101;

pub(super) fn count<F: Fingerprint>(words: &[F], counts: &mut ColumnCounts) {
    for few in words.chunks(BYTE_ADDITIONS) {
        // Byte b of sum s of a half counts its column 8 b + s.
        let mut sums = [[0u64; 8]; 2];
        for word in few {
            let halves = [word.widen() as u64, (word.widen() >> 64) as u64];
            for (sums, half) in sums.iter_mut().zip(halves) {
                for (shift, sum) in sums.iter_mut().enumerate() {
                    *sum += half >> shift & LOW_BITS;
                }
            }
        }
        for (column, count) in counts.0.iter_mut().enumerate() {
            let sum = sums[column / 64][column % 8];
            *count += u32::from(sum.to_le_bytes()[column % 64 / 8]);
        }
    }
}

/// The columns with a count above `bound`, as bits.
pub(super) fn above(counts: &ColumnCounts, bound: u32) -> u128 {
    let halves = counts.0.chunks_exact(MAX_COLUMNS / 2);
    let bits = halves.map(|half| {
        (half.iter().zip(0..)).fold(0u64, |bits, (&count, column)| {
            bits | u64::from(count > bound) << column
        })
    });
    bits.rev().fold(0, |all, bits| all << 64 | u128::from(bits))
}
