//! The assignment of copies to origins.
//!
//! A permutation maps articles to slots. It is computed in both directions for single articles, so
//! nothing is stored. With C planted pairs in D articles:
//!
//! ```text
//! slots   0 … C−1   C … 2C−1     2C … D−1
//!         one side  other side   not copied by articles; samples copy these first
//!         of pair s of pair s−C
//! ```
//!
//! The later article of a pair is a copy of the earlier one.

use super::millionths::Millionths;
use super::random::{StreamPurpose, stream};
use crate::random::mix;

/// The pairs of a corpus.
#[derive(Debug)]
pub(super) struct Plan {
    documents: u64,
    pairs: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Plan {
    /// The plan for `documents` articles (at least 1). A share `duplicates` of them, at most a half,
    /// are copies.
    pub(super) fn new(seed: u64, documents: u64, duplicates: Millionths) -> Self {
        let mut random = stream(seed, StreamPurpose::Plan, 0);
        let bits = u64::BITS - (documents - 1).leading_zeros();
        Plan {
            documents,
            pairs: duplicates.of(documents).min(documents / 2),
            half_bits: bits.div_ceil(2).max(1),
            keys: [(); 4].map(|()| random.next()),
        }
    }

    /// The number of articles.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of articles that are copies.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The number of the pair whose later side is `article`, and the article it is a copy of.
    pub(super) fn repeated_by_article(&self, article: u64) -> Option<(u64, u64)> {
        let slot = self.slot(article);
        let pair = self.pair(slot)?;
        let partner = self.article(if slot < self.pairs {
            slot + self.pairs
        } else {
            pair
        });
        (partner < article).then_some((pair, partner))
    }

    /// The article that a sample copies, if it is a copy. Articles without a copy come first.
    pub(super) fn repeated_by_sample(&self, sample: u64) -> u64 {
        self.article((2 * self.pairs + sample) % self.documents)
    }

    /// Another article that is not paired with `article`, if there is one.
    pub(super) fn unrelated_to(&self, article: u64) -> Option<u64> {
        let slot = self.slot(article);
        let is_unrelated = |other: &u64| {
            *other != slot && (self.pair(*other).is_none() || self.pair(*other) != self.pair(slot))
        };
        let others = (1..=2).map(|step| (slot + step) % self.documents);
        others
            .into_iter()
            .find(is_unrelated)
            .map(|other| self.article(other))
    }

    fn pair(&self, slot: u64) -> Option<u64> {
        (slot < 2 * self.pairs).then(|| slot % self.pairs)
    }

    /// The slot of an article.
    ///
    /// A Feistel network of four rounds permutes numbers with an even number of bits. A result out of
    /// range is permuted again until it is in range (cycle walking), at most four times on average.
    fn slot(&self, article: u64) -> u64 {
        self.walk(article, |number| {
            let (left, right) = self
                .keys
                .iter()
                .fold(self.halves(number), |(left, right), key| {
                    (right, left ^ self.round(right, *key))
                });
            (left << self.half_bits) | right
        })
    }

    /// The article in a slot: the inverse of [`slot`](Self::slot).
    fn article(&self, slot: u64) -> u64 {
        self.walk(slot, |number| {
            let halves = self.halves(number);
            let (left, right) = self.keys.iter().rev().fold(halves, |(left, right), key| {
                (right ^ self.round(left, *key), left)
            });
            (left << self.half_bits) | right
        })
    }

    fn walk(&self, number: u64, permute: impl Fn(u64) -> u64) -> u64 {
        let mut image = permute(number);
        while image >= self.documents {
            image = permute(image);
        }
        image
    }

    fn halves(&self, number: u64) -> (u64, u64) {
        (
            number >> self.half_bits,
            number & ((1 << self.half_bits) - 1),
        )
    }

    fn round(&self, half: u64, key: u64) -> u64 {
        mix(half.wrapping_add(key)) & ((1 << self.half_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 9] = [1, 2, 3, 4, 5, 64, 65, 1000, 4097];

    #[test]
    fn articles_and_slots_are_permutations_of_each_other() {
        for documents in SIZES {
            let plan = Plan::new(11, documents, Millionths(100_000));
            let mut slots: Vec<u64> = (0..documents).map(|article| plan.slot(article)).collect();
            assert!((0..documents).all(|article| plan.article(slots[article as usize]) == article));
            slots.sort_unstable();
            assert!(
                slots
                    .iter()
                    .enumerate()
                    .all(|(index, &slot)| index as u64 == slot)
            );
        }
    }

    #[test]
    fn pairs_are_disjoint() {
        for documents in SIZES {
            for share in [0, 1, 100_000, 333_333, 500_000] {
                let plan = Plan::new(2, documents, Millionths(share));
                let repeated: Vec<(u64, u64)> = (0..documents)
                    .filter_map(|article| {
                        let (_, origin) = plan.repeated_by_article(article)?;
                        assert!(origin < article);
                        Some((article, origin))
                    })
                    .collect();
                assert_eq!(repeated.len() as u64, Millionths(share).of(documents));
                let mut sides: Vec<u64> = repeated
                    .iter()
                    .flat_map(|&(copy, origin)| [copy, origin])
                    .collect();
                sides.sort_unstable();
                sides.dedup();
                assert_eq!(sides.len(), 2 * repeated.len());
            }
        }
    }

    #[test]
    fn unrelated_articles_are_in_another_pair() {
        for documents in SIZES {
            let plan = Plan::new(3, documents, Millionths(500_000));
            for article in 0..documents {
                let Some(other) = plan.unrelated_to(article) else {
                    assert!(documents <= 2);
                    continue;
                };
                assert_ne!(other, article);
                for (one, two) in [(article, other), (other, article)] {
                    assert!(
                        plan.repeated_by_article(one)
                            .is_none_or(|(_, origin)| origin != two)
                    );
                }
            }
        }
    }
}
