//! NEON: the counts of a bitmap's bytes are added before they are widened.

use std::arch::aarch64::*;

use super::scalar;

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn distances(
    bitmap: &[u64],
    bitmaps: &[u64],
    numbers: &[u64],
    distances: &mut [u32],
) {
    match bitmap.len() {
        2 => each::<1>(bitmap, bitmaps, numbers, distances),
        4 => each::<2>(bitmap, bitmaps, numbers, distances),
        8 => each::<4>(bitmap, bitmaps, numbers, distances),
        16 => each::<8>(bitmap, bitmaps, numbers, distances),
        32 => each::<16>(bitmap, bitmaps, numbers, distances),
        _ => scalar::distances(bitmap, bitmaps, numbers, distances),
    }
}

/// The distances of bitmaps of PAIRS pairs of words, at most 16.
#[target_feature(enable = "neon")]
fn each<const PAIRS: usize>(
    bitmap: &[u64],
    bitmaps: &[u64],
    numbers: &[u64],
    distances: &mut [u32],
) {
    assert_eq!(numbers.len(), distances.len());
    // SAFETY: a pair is two words; the load needs no alignment.
    let load = |pair: &[u64; 2]| unsafe { vreinterpretq_u8_u64(vld1q_u64(pair.as_ptr())) };
    let (bitmap, (bitmaps, _)) = (bitmap.as_chunks::<2>().0, bitmaps.as_chunks::<2>());
    let bitmap: [uint8x16_t; PAIRS] = std::array::from_fn(|pair| load(&bitmap[pair]));
    let (bitmaps, _) = bitmaps.as_chunks::<PAIRS>();
    for (number, distance) in numbers.iter().zip(distances) {
        let mut ones = vdupq_n_u8(0);
        for (ours, theirs) in bitmap.iter().zip(&bitmaps[*number as usize]) {
            // At most 16 times 8 fits a byte.
            ones = vaddq_u8(ones, vcntq_u8(veorq_u8(*ours, load(theirs))));
        }
        *distance = vaddlvq_u8(ones).into();
    }
}
