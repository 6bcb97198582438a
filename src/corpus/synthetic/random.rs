//! The random numbers: SplitMix64, one stream a document.

/// The generator SplitMix64: 64 bits of state, one 64-bit number a step.
///
/// Guy L. Steele, Doug Lea and Christine H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; the constants are those of Sebastiano Vigna's public domain
/// `splitmix64.c`. Written out here because its numbers reach files and may never change.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64 {
    state: u64,
}

/// What a stream is for: streams of different use never share numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// The words of article `n`.
    Article = 1,
    /// The words of sample `n` when it repeats no article.
    Sample = 2,
    /// The edits that make article `n` from the article it repeats.
    ArticleEdits = 3,
    /// The edits that make sample `n` from the article it repeats.
    SampleEdits = 4,
    /// Row `n` of hashvalue.txt.
    HashRow = 5,
    /// The keys of the permutation that decides which articles repeat which.
    Plan = 6,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator with this state, as `splitmix64.c` has it.
    pub(super) fn new(state: u64) -> Self {
        SplitMix64 { state }
    }

    /// The stream number `number` of a use, under a seed.
    ///
    /// All streams lie on one cycle of 2^64 numbers and start at places that the seed, the use
    /// and the number decide through [`mix`].
    pub(super) fn stream(seed: u64, purpose: Use, number: u64) -> Self {
        let of_use = mix(seed.wrapping_add(STEP.wrapping_mul(purpose as u64)));
        SplitMix64::new(mix(of_use.wrapping_add(STEP.wrapping_mul(number))))
    }

    /// The next 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 to `bound` − 1; `bound` is at least 1.
    ///
    /// The upper half of a product: uneven by less than `bound` parts in 2^64, which no file that
    /// fits a disk can show.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// SplitMix64's output function: a bijection in which every bit depends on every bit.
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
            first(0, Use::Article, 0),
            first(0, Use::Article, 1),
            first(1, Use::Article, 0),
            first(0, Use::Sample, 0),
            first(0, Use::ArticleEdits, 0),
        ];
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 5);
    }
}
