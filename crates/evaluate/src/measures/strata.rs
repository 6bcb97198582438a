//! Samples of pairs in strata, and the share of a property that they estimate.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::proportion::{Interval, Proportion};
use crate::inputs::ids::Pair;

/// A uniform sample of bounded size: the pairs with the smallest hashes. It does not depend on the
/// order of the pairs, and samples of parts can be joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairSample {
    /// The number of pairs from which the sample is taken.
    pub count: u64,
    pairs: Vec<(u64, Pair)>,
}

/// A stratum: similar pairs, of which some are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stratum {
    /// The number of its pairs.
    pub count: u64,
    /// How many of them were judged.
    pub judged: u64,
    /// How many of the judged ones are wrong.
    pub wrong: u64,
}

impl PairSample {
    /// The maximum number of pairs of a sample.
    pub const MOST: usize = 1000;

    /// Adds a pair, which must not have been added before.
    pub fn add(&mut self, pair: Pair, seed: u64) {
        let [a, b] = pair.documents().map(u32::to_le_bytes);
        let hash = xxh3_64_with_seed([a, b].as_flattened(), seed);
        self.count += 1;
        self.pairs.push((hash, pair));
        if self.pairs.len() >= 2 * Self::MOST {
            self.shrink();
        }
    }

    /// Adds the pairs of another sample with the same seed.
    pub fn join(&mut self, other: PairSample) {
        self.count += other.count;
        self.pairs.extend(other.pairs);
        self.shrink();
    }

    fn shrink(&mut self) {
        if self.pairs.len() > Self::MOST {
            self.pairs.select_nth_unstable(Self::MOST);
            self.pairs.truncate(Self::MOST);
        }
    }

    /// The sampled pairs, in any order.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.pairs.iter().map(|(_, pair)| *pair)
    }
}

impl Stratum {
    /// The estimated number of wrong pairs.
    fn wrong_pairs(&self) -> f64 {
        self.count as f64 * self.wrong as f64 / self.judged.max(1) as f64
    }
}

/// The estimated number of wrong pairs in some strata; exact if all pairs were judged.
pub fn wrong_pairs(strata: &[Stratum]) -> f64 {
    strata.iter().map(Stratum::wrong_pairs).sum()
}

/// The estimated share of right pairs in some strata, with a 95 % interval; `None` without pairs.
///
/// The interval is that of pairs like these, so it has a width even if all pairs were judged. Strata
/// whose pairs were all judged count as one; the intervals of the others, by Wilson, are added up, so
/// they are wider than an interval of the sum. Pairs of a stratum of which none was judged may all be
/// right or wrong.
pub fn right_share(strata: &[Stratum]) -> Option<(f64, Interval)> {
    let (judged, sampled): (Vec<Stratum>, Vec<Stratum>) =
        (strata.iter()).partition(|stratum| stratum.judged == stratum.count);
    let sum = |of: fn(&Stratum) -> u64| judged.iter().map(of).sum();
    let judged = Stratum {
        count: sum(|stratum| stratum.count),
        judged: sum(|stratum| stratum.judged),
        wrong: sum(|stratum| stratum.wrong),
    };
    let strata: Vec<Stratum> = sampled.into_iter().chain([judged]).collect();
    let count = strata.iter().map(|stratum| stratum.count).sum::<u64>() as f64;
    let bounds = |stratum: &Stratum| {
        let right = Proportion::new(stratum.judged - stratum.wrong, stratum.judged);
        let interval = right.interval().unwrap_or(Interval {
            low: 0.0,
            high: 1.0,
        });
        [interval.low, interval.high].map(|bound| bound * stratum.count as f64)
    };
    let bounds: Vec<[f64; 2]> = strata.iter().map(bounds).collect();
    let bound = |side: usize| (bounds.iter().map(|both| both[side]).sum::<f64>() / count).min(1.0);
    (count > 0.0).then(|| {
        let interval = Interval {
            low: bound(0),
            high: bound(1),
        };
        (1.0 - wrong_pairs(&strata) / count, interval)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(count: u64, judged: u64, wrong: u64) -> Stratum {
        Stratum {
            count,
            judged,
            wrong,
        }
    }

    #[test]
    fn samples_do_not_depend_on_the_order() {
        let pair = |number: u32| Pair::new(number % 200, 200 + number / 200).unwrap();
        let all: Vec<Pair> = (0..30_000).map(pair).collect();
        let mut one = PairSample::default();
        all.iter().for_each(|pair| one.add(*pair, 1));
        let mut joined = PairSample::default();
        for part in all.rchunks(7000) {
            let mut sample = PairSample::default();
            part.iter().rev().for_each(|pair| sample.add(*pair, 1));
            joined.join(sample);
        }
        assert_eq!((one.count, joined.count), (30_000, 30_000));
        let sorted = |mut sample: PairSample| {
            sample.shrink();
            let mut pairs: Vec<Pair> = sample.pairs().collect();
            pairs.sort_unstable();
            pairs
        };
        let pairs = sorted(one);
        assert_eq!(pairs, sorted(joined));
        assert_eq!(pairs.len(), PairSample::MOST);
        // About a thirtieth of each part of the pairs.
        let first = pairs.iter().filter(|pair| pair.documents()[0] < 100);
        assert!((430..570).contains(&first.count()));
    }

    #[test]
    fn judged_strata_count_as_one_and_others_add_up() {
        let strata = [stratum(10, 10, 0), stratum(30, 30, 3)];
        let (share, interval) = right_share(&strata).unwrap();
        assert!((share - 37.0 / 40.0).abs() < 1e-12);
        assert_eq!(Some(interval), Proportion::new(37, 40).interval());
        // Six right pairs show little.
        let (share, interval) = right_share(&[stratum(1, 1, 0); 6]).unwrap();
        assert!(share > 0.999 && interval.low > 0.6 && interval.low < 0.62);
        // The large stratum counts a hundred times as much as the small one.
        let strata = [stratum(100_000, 100, 10), stratum(1000, 100, 100)];
        let (share, interval) = right_share(&strata).unwrap();
        assert!((wrong_pairs(&strata) - 11_000.0).abs() < 1e-6);
        assert!((share - (1.0 - 11.0 / 101.0)).abs() < 1e-12);
        assert!(interval.low < share && share < interval.high);
        let (_, interval) = right_share(&[stratum(10, 10, 0), stratum(10, 0, 0)]).unwrap();
        assert!(interval.low < 0.4 && interval.high > 0.99);
        assert_eq!(right_share(&[]), None);
    }
}
