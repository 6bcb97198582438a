//! The nearest documents of one query.

use crate::sketch::Score;

/// Collects documents and keeps the nearest; among equal scores the older ones.
#[derive(Clone, Debug)]
pub struct Nearest {
    limit: usize,
    part: u32,
    found: Vec<(Score, u32, u32)>,
}

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

    /// Offers document `number` of the part.
    pub fn push(&mut self, score: Score, number: u32) {
        self.found.push((score, self.part, number));
        if self.found.len() >= 2 * self.limit.max(8) {
            self.cut();
        }
    }

    /// Score, part and number of the nearest, in order.
    pub fn finish(&mut self) -> &[(Score, u32, u32)] {
        self.cut();
        &self.found
    }

    /// The same after [`finish`](Self::finish).
    pub fn found(&self) -> &[(Score, u32, u32)] {
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
        for (part, number, distance) in [(1, 0, 2), (0, 9, 2), (0, 4, 3), (1, 7, 0), (0, 3, 2)] {
            nearest.in_part(part);
            (0..20).for_each(|_| nearest.push(Score::Distance(9), 1));
            nearest.push(Score::Distance(distance), number);
        }
        let expected = [(0, 1, 7), (2, 0, 3), (2, 0, 9)];
        let found: Vec<_> = expected.map(|(d, p, n)| (Score::Distance(d), p, n)).into();
        assert_eq!(nearest.finish(), found);
    }
}
