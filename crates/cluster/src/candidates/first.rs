//! Pairs without repetitions: the first of each document.

use crate::records::Pair;

/// Takes pairs by member, then by the earlier document. Gives each pair once, of each member those up
/// to the first cut, and at most a number of them.
pub struct First {
    most: usize,
    last: Option<Pair>,
    member: Option<i64>,
    count: usize,
    is_cut: bool,
}

impl First {
    /// At most this many pairs of each member.
    pub fn new(most: usize) -> First {
        First {
            most,
            last: None,
            member: None,
            count: 0,
            is_cut: false,
        }
    }

    /// Takes the next pair; gives an earlier one.
    pub fn push(&mut self, pair: Pair) -> Option<Pair> {
        match &mut self.last {
            Some(last) if (last.member, last.earlier) == (pair.member, pair.earlier) => {
                last.cut |= pair.cut;
                None
            }
            _ => {
                let found = self.end();
                self.last = Some(pair);
                found
            }
        }
    }

    /// The last pair.
    pub fn end(&mut self) -> Option<Pair> {
        let pair = self.last.take()?;
        if self.member != Some(pair.member) {
            self.member = Some(pair.member);
            self.count = 0;
            self.is_cut = false;
        }
        if self.is_cut || self.count == self.most {
            return None;
        }
        self.count += 1;
        self.is_cut = pair.cut != 0;
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(member: i64, earlier: i64, cut: u64) -> Pair {
        Pair {
            member,
            earlier,
            cut,
        }
    }

    #[test]
    fn pairs_end_at_a_cut_and_at_the_most() {
        let mut first = First::new(2);
        let pairs = [
            pair(5, 1, 0),
            pair(5, 1, 1),
            pair(5, 2, 0),
            pair(6, 1, 0),
            pair(6, 2, 0),
            pair(6, 3, 0),
            pair(7, 4, 0),
        ];
        let mut found: Vec<Pair> = pairs
            .into_iter()
            .filter_map(|pair| first.push(pair))
            .collect();
        found.extend(first.end());
        assert_eq!(
            found,
            [pair(5, 1, 1), pair(6, 1, 0), pair(6, 2, 0), pair(7, 4, 0)]
        );
    }
}
