//! The kernel of a level.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::level::kernel_of;

/// The maximum number of words of a bitmap; the number is a power of two.
pub const MAX_WORDS: usize = 32;

/// Writes to `distances` the Hamming distance of `bitmap` to each bitmap of `bitmaps` selected by
/// `numbers`. All bitmaps have the length of `bitmap`.
///
/// # Panics
/// If `distances` and `numbers` differ in length, if a number is out of range, or if the length of
/// `bitmap` is not a power of two up to [`MAX_WORDS`].
pub type Distances = fn(bitmap: &[u64], bitmaps: &[u64], numbers: &[u64], distances: &mut [u32]);

/// The kernel of a level.
pub fn distances(level: Level) -> Distances {
    kernel_of!(level, distances(bitmap, bitmaps, numbers, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn levels_are_the_definition(
            words in 0..6u32,
            bits in prop::collection::vec(any::<u64>(), 64..500),
            numbers in prop::collection::vec(any::<u64>(), 0..40),
        ) {
            let words = 1 << words;
            let (bitmap, bitmaps) = bits.split_at(words);
            let count = (bitmaps.len() / words) as u64;
            let numbers: Vec<u64> = numbers.iter().map(|number| number % count).collect();
            let expected: Vec<u32> = numbers
                .iter()
                .map(|&number| {
                    let other = &bitmaps[number as usize * words..][..words];
                    let differing = bitmap.iter().zip(other).map(|(a, b)| (a ^ b).count_ones());
                    differing.sum()
                })
                .collect();
            for level in Level::available() {
                let mut found = vec![7; numbers.len()];
                distances(level)(bitmap, bitmaps, &numbers, &mut found);
                prop_assert_eq!(&found, &expected, "{}", level);
            }
        }
    }
}
