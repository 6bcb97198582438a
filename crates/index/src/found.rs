//! The documents of an index that a query finds.

use crate::Result;
use crate::record::NearCopy;
use crate::sketch::Score;

/// Kept documents near a query: the oldest ones.
#[derive(Clone, Debug)]
pub struct Oldest {
    limit: usize,
    found: Vec<NearCopy>,
}

/// Offers a query, by its number, the document with this number in a part, and the score of the two.
/// Returns whether further documents of the part, with higher numbers, may be in the answer.
pub type Offer<'a> = dyn FnMut(usize, u32, Score) -> Result<bool> + 'a;

impl Oldest {
    /// Keeps at most `limit` documents.
    pub fn new(limit: usize) -> Oldest {
        Oldest {
            limit,
            found: Vec::new(),
        }
    }

    /// Whether the document with this ordinal would be among the oldest.
    pub fn wants(&self, ordinal: u64) -> bool {
        self.found.len() < self.limit || self.found.last().is_some_and(|last| ordinal < last.kept)
    }

    /// Whether only documents older than those that are there can be added.
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// Adds a document that is not there yet.
    pub fn push(&mut self, near: NearCopy) {
        let place = self.found.partition_point(|found| found.kept < near.kept);
        self.found.insert(place, near);
        self.found.truncate(self.limit);
    }

    /// The documents, oldest first.
    pub fn found(&self) -> &[NearCopy] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_kept_in_order() {
        let mut oldest = Oldest::new(3);
        for kept in [5, 9, 1, 7, 3, 8] {
            let wanted = oldest.wants(kept);
            let score = Score::Distance(0);
            oldest.push(NearCopy {
                kept,
                score,
                similarity: None,
            });
            let is_there = oldest.found().iter().any(|found| found.kept == kept);
            assert_eq!(wanted, is_there);
        }
        let found: Vec<u64> = oldest.found().iter().map(|found| found.kept).collect();
        assert_eq!(found, [1, 3, 5]);
        assert!(oldest.is_full());
    }
}
