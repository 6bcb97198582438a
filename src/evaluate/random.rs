//! Pseudo-random numbers that are the same on every machine and in every version.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The generator SplitMix64.
///
/// Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014;
/// the constants are those of Vigna's public domain `splitmix64.c`.
#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The stream for a seed and a name.
    pub(super) fn new(seed: u64, name: &[u8]) -> Random {
        Random {
            state: xxh3_64_with_seed(name, seed),
        }
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1; uniform up to `bound` / 2^64.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// `count` different numbers below `bound`, ascending; all numbers if `count` is at least
    /// `bound`.
    ///
    /// Each set is equally likely: Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S.
    pub(super) fn sample(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut wanted = count.min(bound);
        let mut chosen = Vec::with_capacity(wanted);
        for number in 0..bound {
            if self.below(bound - number) < wanted {
                chosen.push(number);
                wanted -= 1;
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_numbers() {
        // The first output of splitmix64.c with state 1234567.
        let mut random = Random { state: 1_234_567 };
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
    }

    #[test]
    fn samples_are_sets_of_the_size_asked_for() {
        let mut random = Random::new(1, b"sample");
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
