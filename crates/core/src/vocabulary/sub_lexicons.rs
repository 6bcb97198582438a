//! Random subsets of the vocabulary.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Random sets of words, each of which lacks any word with the same probability.
///
/// Membership is decided by a hash of the word's 64-bit hash and the number of the set, so that
/// nothing is stored and all machines agree. Source: Kołcz, Chowdhury and Alspector, "Improved
/// Robustness of Signature-Based Near-Replica Detection via Lexicon Randomization", KDD 2004.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubLexicons {
    count: u32,
    /// Words with hashes below this bound are not in the set.
    dropped: u128,
}

impl SubLexicons {
    /// `count` sets that each lack the proportion `dropped` of the words: numerator and
    /// denominator, at most 1 in value.
    pub fn new(count: u32, dropped: (u64, u64)) -> SubLexicons {
        let (numerator, denominator) = (u128::from(dropped.0), u128::from(dropped.1.max(1)));
        SubLexicons {
            count,
            dropped: (numerator << 64) / denominator,
        }
    }

    /// The number of sets.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Whether set number `set` contains the word with the 64-bit hash `word`.
    #[inline]
    pub fn has(self, set: u32, word: u64) -> bool {
        u128::from(xxh3_64_with_seed(&word.to_le_bytes(), set.into())) >= self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within five standard deviations of the proportion, for every set and for pairs of sets.
    #[test]
    fn sets_lack_their_share_independently() {
        const WORDS: u64 = 30_000;
        let sets = SubLexicons::new(6, (1, 3));
        let within = |found: usize, chance: f64| {
            let mean = chance * WORDS as f64;
            let deviation = (mean * (1.0 - chance)).sqrt();
            assert!(
                (found as f64 - mean).abs() < 5.0 * deviation,
                "{found} for {mean}"
            );
        };
        let words = || (0..WORDS).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for a in 0..sets.count() {
            within(words().filter(|&word| sets.has(a, word)).count(), 2.0 / 3.0);
            for b in 0..a {
                let both = words().filter(|&word| sets.has(a, word) && sets.has(b, word));
                within(both.count(), 4.0 / 9.0);
            }
        }
    }

    #[test]
    fn all_or_nothing() {
        for word in [0, 1, u64::MAX] {
            assert!(SubLexicons::new(1, (0, 1)).has(0, word));
            assert!(!SubLexicons::new(1, (5, 5)).has(0, word));
        }
    }

    #[test]
    fn the_same_words_everywhere() {
        let sets = SubLexicons::new(2, (333_333, 1_000_000));
        let kept: Vec<u64> = (0..12).filter(|&word| sets.has(1, word)).collect();
        assert_eq!(kept, [0, 1, 3, 5, 6, 7, 9, 10, 11]);
    }
}
