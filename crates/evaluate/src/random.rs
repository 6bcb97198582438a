//! Pseudo-random numbers that are the same on every machine and in every version.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The generator SplitMix64: 64 bits of state, one 64-bit number per step.
///
/// Guy L. Steele, Doug Lea and Christine H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; the constants are those of Sebastiano Vigna's public domain
/// `splitmix64.c`. Implemented here because its numbers determine files and must never change.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64 {
    state: u64,
}

/// The difference of consecutive states.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator with this state, as in `splitmix64.c`.
    pub(crate) fn new(state: u64) -> Self {
        SplitMix64 { state }
    }

    /// The stream for a seed and a name.
    pub(crate) fn named(seed: u64, name: &[u8]) -> Self {
        SplitMix64::new(xxh3_64_with_seed(name, seed))
    }

    /// The next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 to `bound` − 1; `bound` must be at least 1.
    ///
    /// It is the upper half of a product. The bias is less than `bound` / 2^64, which is not observable
    /// in any file.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// An index below `bound`, which is at least 1.
    pub(crate) fn index(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }

    /// `true` with a probability of 1 / `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// `count` different numbers below `bound`, ascending; all numbers if `count` is at least
    /// `bound`.
    ///
    /// Each set is equally likely: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S.
    pub(super) fn sample(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut wanted = count.min(bound);
        let mut chosen = Vec::with_capacity(wanted);
        for number in 0..bound {
            if self.index(bound - number) < wanted {
                chosen.push(number);
                wanted -= 1;
            }
        }
        chosen
    }
}

/// The output function of SplitMix64: a bijection in which every bit depends on every bit.
pub(crate) fn mix(state: u64) -> u64 {
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
    fn samples_are_sets_of_the_size_asked_for() {
        let mut random = SplitMix64::named(1, b"sample");
        let mut times = [0; 10];
        for _ in 0..2000 {
            let sample = random.sample(3, 10);
            assert_eq!(sample.len(), 3);
            assert!(sample.is_sorted_by(|a, b| a < b));
            sample.iter().for_each(|&number| times[number] += 1);
        }
        assert!(
            times.iter().all(|times| (500..700).contains(times)),
            "{times:?}"
        );
        assert_eq!(random.sample(9, 4), [0, 1, 2, 3]);
        assert!(random.sample(3, 0).is_empty());
    }
}
