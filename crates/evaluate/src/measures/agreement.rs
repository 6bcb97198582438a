//! Agreement of two methods, and which of them is right if they disagree.

use super::proportion::Proportion;
use super::significance::mcnemar;

/// A comparison of two methods on the listed pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Pairs that both found.
    pub both: u64,
    /// Pairs that only the first one found.
    pub only_first: u64,
    /// Pairs that only the second one found.
    pub only_second: u64,
    /// Pairs that neither found.
    pub neither: u64,
    /// Pairs that the first one judged correctly and the second one wrongly.
    pub first_right: u64,
    /// Pairs that the second one judged correctly and the first one wrongly.
    pub second_right: u64,
}

impl Comparison {
    /// The proportion of pairs on which they agree.
    pub fn agreement(self) -> Proportion {
        let agree = self.both + self.neither;
        Proportion::new(agree, agree + self.only_first + self.only_second)
    }

    /// Cohen's kappa: agreement beyond that expected by chance from their numbers of found pairs; 1
    /// if they agree on all. `None` without pairs.
    ///
    /// Source: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
    /// Measurement 20, 1960.
    pub fn kappa(self) -> Option<f64> {
        let agreement = self.agreement();
        let count = i128::from(agreement.whole);
        let first = i128::from(self.both + self.only_first);
        let second = i128::from(self.both + self.only_second);
        let by_chance = first * second + (count - first) * (count - second);
        let above = i128::from(agreement.part) * count - by_chance;
        let most = count * count - by_chance;
        match (count, most) {
            (0, _) => None,
            (_, 0) => Some(1.0),
            _ => Some(above as f64 / most as f64),
        }
    }

    /// The p-value of [`mcnemar`] for the null hypothesis that both methods are equally good.
    pub fn p_value(self) -> f64 {
        mcnemar(self.first_right, self.second_right)
    }
}

/// A set of pairs, as a bitmap.
#[derive(Clone, Debug)]
pub(crate) struct PairSet(Vec<u64>);

impl PairSet {
    pub(crate) fn new(members: impl Iterator<Item = bool>) -> PairSet {
        let mut words = Vec::new();
        for (index, is_member) in members.enumerate() {
            if index % 64 == 0 {
                words.push(0);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(is_member) << (index % 64);
            }
        }
        PairSet(words)
    }

    /// Compares two sets of found pairs, out of `count`, given the set of near pairs.
    pub(crate) fn compare(&self, other: &PairSet, near: &PairSet, count: u64) -> Comparison {
        let words = self.0.iter().zip(&other.0).zip(&near.0);
        let mut sums = [0_u64; 5];
        for ((&first, &second), &near) in words {
            let (only_first, only_second) = (first & !second, second & !first);
            let right = [
                only_first & near | only_second & !near,
                only_second & near | only_first & !near,
            ];
            let counted = [first & second, only_first, only_second, right[0], right[1]];
            for (sum, word) in sums.iter_mut().zip(counted) {
                *sum += u64::from(word.count_ones());
            }
        }
        let [both, only_first, only_second, first_right, second_right] = sums;
        Comparison {
            both,
            only_first,
            only_second,
            neither: count - both - only_first - only_second,
            first_right,
            second_right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kappa_by_hand() {
        // 0.7 observed, 0.5 by chance.
        let example = Comparison {
            both: 20,
            only_first: 5,
            only_second: 10,
            neither: 15,
            first_right: 0,
            second_right: 0,
        };
        assert_eq!(example.agreement(), Proportion::new(35, 50));
        assert!((example.kappa().unwrap() - 0.4).abs() < 1e-12);
        let none = Comparison {
            both: 0,
            only_first: 0,
            only_second: 0,
            neither: 0,
            ..example
        };
        assert_eq!(none.kappa(), None);
        assert_eq!(Comparison { neither: 9, ..none }.kappa(), Some(1.0));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_every_pair(
            pairs in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 0..200),
        ) {
            let set = |of: fn(&(bool, bool, bool)) -> bool| PairSet::new(pairs.iter().map(of));
            let (first, second, near) = (set(|p| p.0), set(|p| p.1), set(|p| p.2));
            let found = first.compare(&second, &near, pairs.len() as u64);
            let count = |of: fn(&(bool, bool, bool)) -> bool| {
                pairs.iter().filter(|pair| of(pair)).count() as u64
            };
            prop_assert_eq!(found, Comparison {
                both: count(|p| p.0 && p.1),
                only_first: count(|p| p.0 && !p.1),
                only_second: count(|p| !p.0 && p.1),
                neither: count(|p| !p.0 && !p.1),
                first_right: count(|p| p.0 == p.2 && p.1 != p.2),
                second_right: count(|p| p.0 != p.2 && p.1 == p.2),
            });
        }
    }
}
