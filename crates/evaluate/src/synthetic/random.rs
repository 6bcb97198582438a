//! The random streams of a corpus: one for each document and purpose.

use crate::random::{STEP, SplitMix64, mix};

/// The purpose of a stream; streams of different purposes are independent.
#[derive(Clone, Copy, Debug)]
pub(super) enum StreamPurpose {
    /// The words of article `n`.
    Article = 1,
    /// The words of sample `n` if it is not a copy.
    Sample = 2,
    /// The edits of article `n` if it is a copy.
    ArticleEdits = 3,
    /// The edits of sample `n` if it is a copy.
    SampleEdits = 4,
    /// Row `n` of hashvalue.txt.
    HashRow = 5,
    /// The keys of the permutation in the plan.
    Plan = 6,
}

/// Stream `number` of a purpose, for a seed.
///
/// All streams are parts of one cycle of 2^64 numbers. Their starts are determined by seed, purpose
/// and number through [`mix`].
pub(super) fn stream(seed: u64, purpose: StreamPurpose, number: u64) -> SplitMix64 {
    let of_purpose = mix(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
    SplitMix64::new(mix(of_purpose.wrapping_add(STEP.wrapping_mul(number))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_number() {
        let first = |seed, purpose, number| stream(seed, purpose, number).next();
        let mut numbers = vec![
            first(0, StreamPurpose::Article, 0),
            first(0, StreamPurpose::Article, 1),
            first(1, StreamPurpose::Article, 0),
            first(0, StreamPurpose::Sample, 0),
            first(0, StreamPurpose::ArticleEdits, 0),
        ];
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 5);
    }
}
