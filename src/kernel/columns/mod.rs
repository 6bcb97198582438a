//! How many of these words have bit j set, for every j?
//!
//! The positional population count of a list of 64- or 128-bit words, which is the sum behind a
//! SimHash whose features all weigh the same. Blocks of sixteen vectors go through a tree of
//! carry-save adders, so that only one vector in sixteen is spread to a counter per bit. Source:
//! Klarqvist, Muła and Lemire, "Efficient Computation of Positional Population Counts Using SIMD
//! Instructions", 2019.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::Level;
use super::hamming::Fingerprint;

/// Most columns of a word.
pub const MAX_COLUMNS: usize = 128;
/// Most words in one call, so that a 32-bit count cannot overflow.
pub const MAX_WORDS: usize = 1 << 30;

/// Ones in each column; zero beyond the columns there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Counts(pub [u32; MAX_COLUMNS]);

impl Default for Counts {
    fn default() -> Counts {
        Counts([0; MAX_COLUMNS])
    }
}

/// Counts the columns of words; all levels give the same results.
#[derive(Clone, Copy, Debug)]
pub struct Columns<F> {
    count: fn(&[F], &mut Counts),
    above: fn(&Counts, u32) -> u128,
}

impl<F: Fingerprint> Columns<F> {
    /// The kernel of `level`, or the scalar one where this processor lacks `level`.
    pub fn new(level: Level) -> Columns<F> {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if level.is_available() => Columns {
                // SAFETY: the guard has just found the instructions on this processor.
                count: |words, counts| unsafe { avx2::count(words, counts) },
                above: scalar::above,
            },
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if level.is_available() => Columns {
                // SAFETY: as above.
                count: |words, counts| unsafe { avx512::count(words, counts) },
                // SAFETY: as above.
                above: |counts, bound| unsafe { avx512::above(counts, bound) },
            },
            _ => Columns {
                count: scalar::count,
                above: scalar::above,
            },
        }
    }

    /// The ones in each column of `words`; O(words).
    ///
    /// # Panics
    /// If there are more than [`MAX_WORDS`].
    pub fn count(&self, words: &[F]) -> Counts {
        assert!(words.len() <= MAX_WORDS, "{} words", words.len());
        let mut counts = Counts::default();
        (self.count)(words, &mut counts);
        counts
    }

    /// The bits that more than half of `words` have set; O(words).
    ///
    /// # Panics
    /// If there are more than [`MAX_WORDS`].
    pub fn majority(&self, words: &[F]) -> F {
        let counts = self.count(words);
        // More than n / 2 of whole words is more than n / 2 rounded down.
        F::truncate((self.above)(&counts, words.len() as u32 / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
