//! The pairs that are shown: the least similar removals, or the nearest refused pairs.

use std::cmp::Ordering;

use crate::dedup::decision::Decision;

/// The most pairs with one kept document. Pages of one template may all be equally similar.
const OF_A_KEPT: usize = 3;

/// The pairs with the lowest or the highest similarity, at most three with the same kept document.
///
/// Of pairs with the same kept document and the same similarity, which are mostly equal texts, only
/// the first is taken. Pairs of equal similarity are in the order in which they come.
pub struct ShownPairs {
    most: usize,
    order: Order,
    pairs: Vec<Decision>,
}

/// Which pairs are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least similar ones.
    LeastSimilar,
    /// The most similar ones.
    MostSimilar,
}

impl ShownPairs {
    /// No pairs so far, at most `most`.
    pub fn new(most: usize, order: Order) -> ShownPairs {
        ShownPairs {
            most,
            order,
            pairs: Vec::new(),
        }
    }

    /// The pairs, the first to show first.
    pub fn pairs(&self) -> &[Decision] {
        &self.pairs
    }

    /// Considers a pair; pairs without shingles are left out. O(1) for most pairs.
    pub fn add(&mut self, pair: &Decision) {
        if pair.verified[1] == 0 {
            return;
        }
        let order = self.order;
        let place = self
            .pairs
            .partition_point(|other| order.compare(other, pair) != Ordering::Greater);
        if place == self.most {
            return;
        }
        let mut of_kept = self.pairs.iter().enumerate();
        let mut of_kept: Vec<usize> = of_kept
            .by_ref()
            .filter(|(_, other)| other.kept == pair.kept)
            .map(|(place, _)| place)
            .collect();
        let is_known = |place: &usize| order.compare(&self.pairs[*place], pair).is_eq();
        if of_kept.iter().any(is_known) {
            return;
        }
        match of_kept.pop() {
            Some(last) if of_kept.len() + 1 == OF_A_KEPT => {
                if place > last {
                    return;
                }
                self.pairs.remove(last);
                self.pairs.insert(place, *pair);
            }
            _ => {
                self.pairs.insert(place, *pair);
                self.pairs.truncate(self.most);
            }
        }
    }
}

impl Order {
    fn compare(self, a: &Decision, b: &Decision) -> Ordering {
        let product =
            |x: &Decision, y: &Decision| u64::from(x.verified[0]) * u64::from(y.verified[1]);
        let order = product(a, b).cmp(&product(b, a));
        match self {
            Order::LeastSimilar => order,
            Order::MostSimilar => order.reverse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// By the definition: all pairs in order, those with enough of their kept document left out.
    fn naive(pairs: &[Decision], order: Order, most: usize) -> Vec<Decision> {
        let mut sorted = pairs.to_vec();
        sorted.retain(|pair| pair.verified[1] > 0);
        sorted.sort_by(|a, b| order.compare(a, b));
        let mut of_kept: BTreeMap<u32, Vec<Decision>> = BTreeMap::new();
        sorted.retain(|pair| {
            let shown = of_kept.entry(pair.kept).or_default();
            let is_new = shown.len() < OF_A_KEPT
                && !shown.iter().any(|other| order.compare(other, pair).is_eq());
            if is_new {
                shown.push(*pair);
            }
            is_new
        });
        sorted.truncate(most);
        sorted
    }

    proptest! {
        /// Promise (Methods and their evaluation): The HTML page of a deduplication has …
        #[test]
        fn the_pairs_are_those_of_the_definition(
            numbers in prop::collection::vec((0..6u32, 0..8u32, 0..8u32), 0..200),
            most in 0..12usize,
            is_least in any::<bool>(),
        ) {
            let pairs: Vec<Decision> = (0..).zip(&numbers).map(|(document, &(kept, a, b))| Decision {
                document,
                kept,
                evidence: Decision::NEAR,
                score: [0, 0],
                verified: [a.min(b), a.max(b)],
            }).collect();
            let order = [Order::MostSimilar, Order::LeastSimilar][usize::from(is_least)];
            let mut shown = ShownPairs::new(most, order);
            pairs.iter().for_each(|pair| shown.add(pair));
            prop_assert_eq!(shown.pairs(), naive(&pairs, order, most));
        }
    }
}
