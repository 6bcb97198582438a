//! The nearest documents of one query.

use crate::Result;
use crate::sketch::{Score, Verification};

/// Collects documents and keeps the nearest; among equal scores the older ones.
#[derive(Clone, Debug)]
pub struct Nearest {
    limit: usize,
    part: u32,
    found: Vec<Found>,
}

/// A document near a query. They sort nearest first, older ones first among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The score of the sketches.
    pub score: Score,
    /// The part of the index that has it.
    pub part: u32,
    /// Its number there.
    pub number: u32,
    /// The similarity of the texts as a fraction, if the sketches tell.
    pub similarity: Option<[u32; 2]>,
}

/// Tells whether a document may be in the answer to a query, by the numbers of both.
pub type Admit<'a> = dyn Fn(usize, u32) -> Result<Verification> + 'a;

impl Nearest {
    /// Keeps at most `limit` documents.
    pub fn new(limit: usize) -> Nearest {
        Nearest {
            limit,
            part: 0,
            found: Vec::new(),
        }
    }

    /// The number of documents that are kept.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The next documents are in part `part` of the index; later parts hold younger documents.
    pub fn in_part(&mut self, part: u32) {
        self.part = part;
    }

    /// Adds document `number` of the part, unless it was found to be different; returns whether it
    /// was added.
    pub fn push(&mut self, score: Score, number: u32, verification: Verification) -> bool {
        let similarity = match verification {
            Verification::Unknown => None,
            Verification::Similar { shared, of } => Some([shared, of]),
            Verification::Different => return false,
        };
        self.found.push(Found {
            score,
            part: self.part,
            number,
            similarity,
        });
        if self.found.len() >= 2 * self.limit.max(8) {
            self.cut();
        }
        true
    }

    /// The nearest, in order.
    pub fn finish(&mut self) -> &[Found] {
        self.cut();
        &self.found
    }

    /// The same after [`finish`](Self::finish).
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    fn cut(&mut self) {
        self.found.sort_unstable();
        self.found.truncate(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_and_oldest_are_kept_in_order() {
        let mut nearest = Nearest::new(3);
        let unknown = Verification::Unknown;
        for (part, number, distance) in [(1, 0, 2), (0, 9, 2), (0, 4, 3), (1, 7, 0), (0, 3, 2)] {
            nearest.in_part(part);
            for _ in 0..20 {
                assert!(nearest.push(Score::Distance(9), 1, unknown));
                assert!(!nearest.push(Score::Distance(0), 1, Verification::Different));
            }
            nearest.push(Score::Distance(distance), number, unknown);
        }
        let (shared, of) = (9, 10);
        nearest.push(Score::Distance(1), 5, Verification::Similar { shared, of });
        let found = nearest.finish().iter();
        let found: Vec<_> = found
            .map(|found| (found.score, found.part, found.number, found.similarity))
            .collect();
        let expected = [(0, 1, 7, None), (1, 0, 5, Some([9, 10])), (2, 0, 3, None)];
        let expected = expected.map(|(d, p, n, s)| (Score::Distance(d), p, n, s));
        assert_eq!(found, expected);
    }
}
