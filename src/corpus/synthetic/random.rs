//! Random numbers: SplitMix64, with one stream per document.

/// The generator SplitMix64: 64 bits of state, one 64-bit number per step.
///
/// Guy L. Steele, Doug Lea and Christine H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; the constants are those of Sebastiano Vigna's public domain
/// `splitmix64.c`. Implemented here because its numbers determine files and must never change.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64 {
    state: u64,
}

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

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator with this state, as in `splitmix64.c`.
    pub(super) fn new(state: u64) -> Self {
        SplitMix64 { state }
    }

    /// Stream `number` of a purpose, for a seed.
    ///
    /// All streams are parts of one cycle of 2^64 numbers. Their starts are determined by seed, purpose
    /// and number through [`mix`].
    pub(super) fn stream(seed: u64, purpose: StreamPurpose, number: u64) -> Self {
        let of_use = mix(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
        SplitMix64::new(mix(of_use.wrapping_add(STEP.wrapping_mul(number))))
    }

    /// The next 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 to `bound` − 1; `bound` must be at least 1.
    ///
    /// It is the upper half of a product. The bias is less than `bound` / 2^64, which is not observable
    /// in any file.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// `true` with a probability of 1 / `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// The output function of SplitMix64: a bijection in which every bit depends on every bit.
pub(super) fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let numbers: Vec<u64> = (0..5).map(|_| random.next()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(numbers, published);
    }

    #[test]
    fn below_stays_below_and_reaches_every_number() {
        let mut random = SplitMix64::new(1);
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[random.below(7) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&count| (850..1150).contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn streams_differ_by_seed_use_and_number() {
        let first = |seed, purpose, number| SplitMix64::stream(seed, purpose, number).next();
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
