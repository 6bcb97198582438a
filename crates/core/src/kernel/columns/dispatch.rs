//! The kernels of a level.

use super::counts::ColumnCounts;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::hamming::Fingerprint;
use crate::kernel::level::kernel_of;

/// The maximum number of words in one call, so that a 32-bit count cannot overflow.
pub const MAX_WORDS: usize = 1 << 30;

/// The kernels that count columns; all levels give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Columns<F> {
    count: fn(&[F], &mut ColumnCounts),
    above: fn(&ColumnCounts, u32) -> u128,
}

impl<F: Fingerprint> Columns<F> {
    /// The kernels of `level`, or the scalar ones if this processor lacks `level`.
    pub fn new(level: Level) -> Columns<F> {
        const { assert!(F::BITS <= 128, "columns of at most 128 bits are counted") }
        Columns {
            count: kernel_of!(level, count(words, counts)),
            above: match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 if level.is_available() => {
                    // SAFETY: the guard checked that this processor has AVX-512.
                    |counts, bound| unsafe { avx512::above(counts, bound) }
                }
                _ => scalar::above,
            },
        }
    }

    /// The number of ones in each column of `words`; O(words).
    ///
    /// # Panics
    /// If there are more than [`MAX_WORDS`] words.
    pub fn count(&self, words: &[F]) -> ColumnCounts {
        assert!(words.len() <= MAX_WORDS, "{} words", words.len());
        let mut counts = ColumnCounts::default();
        (self.count)(words, &mut counts);
        counts
    }

    /// The bits that are set in more than half of `words`; O(words).
    ///
    /// # Panics
    /// If there are more than [`MAX_WORDS`] words.
    pub fn majority(&self, words: &[F]) -> F {
        let counts = self.count(words);
        // For an integer count, more than n / 2 means more than ⌊n / 2⌋.
        F::truncate((self.above)(&counts, words.len() as u32 / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::columns::MAX_COLUMNS;
    use proptest::prelude::*;

    fn definition<F: Fingerprint>(words: &[F]) -> [u32; MAX_COLUMNS] {
        std::array::from_fn(|column| {
            let ones = words.iter().filter(|word| word.widen() >> column & 1 == 1);
            ones.count() as u32
        })
    }

    fn check<F: Fingerprint>(words: &[F]) {
        let expected = definition(words);
        let majority = (0..MAX_COLUMNS)
            .filter(|&column| 2 * expected[column] as usize > words.len())
            .fold(0, |bits, column| bits | 1 << column);
        for level in Level::available() {
            let columns = Columns::<F>::new(level);
            assert_eq!(
                columns.count(words).0,
                expected,
                "{level}, {} words",
                words.len()
            );
            assert_eq!(columns.majority(words).widen(), majority, "{level}");
        }
    }

    proptest! {
        #[test]
        fn levels_are_the_definition(
            words in prop::collection::vec(any::<u128>(), 0..700),
            start in 0usize..9,
        ) {
            let words = &words[start.min(words.len())..];
            check(words);
            check(&words.iter().map(|&word| word as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_length_around_a_block() {
        let words: Vec<u128> = (0..300)
            .map(|i| u128::MAX << (i % 128) ^ 5 << (i % 90))
            .collect();
        for length in 0..words.len() {
            check(&words[..length]);
            let low: Vec<u64> = words[..length].iter().map(|&word| word as u64).collect();
            check(&low);
        }
    }

    #[test]
    fn bytes_are_widened_in_time() {
        for length in [254, 255, 256, 3967, 3968, 3969, 4095, 4096, 8192, 20_001] {
            check(&vec![u64::MAX; length]);
            check(&vec![u128::MAX; length]);
            check(&vec![1u128 << 127 | 1; length]);
        }
    }
}
