//! The mistakes that are farthest from the threshold.

use std::cmp::Reverse;

use crate::inputs::ids::Pair;
use crate::sketch::Score;

/// A pair that the method judged wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The two documents.
    pub pair: Pair,
    /// The number of its class.
    pub class: usize,
    /// The score of the method, if it has one.
    pub score: Option<Score>,
}

/// The worst mistakes of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// Far pairs that were found, nearest first, those without a score last.
    pub false_hits: Vec<Mistake>,
    /// Near pairs that were not found, farthest first, those without a score last.
    pub misses: Vec<Mistake>,
}

impl Mistakes {
    /// The worst of each kind, at most `most`; ties by pair.
    pub(crate) fn new(mut false_hits: Vec<Mistake>, mut misses: Vec<Mistake>, most: usize) -> Self {
        false_hits.sort_by_key(|mistake| (mistake.score.is_none(), mistake.score, mistake.pair));
        misses.sort_by_key(|m| (m.score.is_none(), m.score.map(Reverse), m.pair));
        false_hits.truncate(most);
        misses.truncate(most);
        Mistakes { false_hits, misses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_from_the_threshold_come_first() {
        let mistake = |other, score: Option<u32>| Mistake {
            pair: Pair::new(0, other).unwrap(),
            class: 0,
            score: score.map(Score::Distance),
        };
        let all = vec![
            mistake(1, Some(3)),
            mistake(2, None),
            mistake(3, Some(1)),
            mistake(4, Some(9)),
            mistake(5, Some(1)),
        ];
        let found = Mistakes::new(all.clone(), all, 4);
        let others = |mistakes: &[Mistake]| -> Vec<u32> {
            mistakes
                .iter()
                .map(|mistake| mistake.pair.documents()[1])
                .collect()
        };
        assert_eq!(others(&found.false_hits), [3, 5, 1, 4]);
        assert_eq!(others(&found.misses), [4, 1, 3, 5]);
    }
}
