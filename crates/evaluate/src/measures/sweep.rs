//! Precision-recall curves: all thresholds of a method.

use super::proportion::Proportion;
use crate::sketch::Score;

/// The counts at a threshold, which accepts all pairs at least as near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The farthest accepted score.
    pub threshold: Score,
    /// The number of accepted near pairs.
    pub hits: u64,
    /// The number of accepted far pairs.
    pub false_hits: u64,
    /// The total number of near pairs.
    pub near: u64,
}

impl Point {
    /// The proportion of hits among accepted pairs.
    pub fn precision(self) -> Proportion {
        Proportion::new(self.hits, self.hits + self.false_hits)
    }

    /// The proportion of hits among near pairs.
    pub fn recall(self) -> Proportion {
        Proportion::new(self.hits, self.near)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(self) -> Proportion {
        Proportion::new(2 * self.hits, self.hits + self.false_hits + self.near)
    }
}

/// The precision-recall curve of a method: a point for each different score, nearest first.
///
/// A pair without a score, or with a similarity of 0, is accepted by no threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    points: Vec<Point>,
}

impl Sweep {
    /// The curve of pairs of a score and whether the pair is near. O(n log n).
    pub fn new(pairs: impl IntoIterator<Item = (Option<Score>, bool)>) -> Sweep {
        let mut near = 0;
        let mut scored: Vec<(Score, bool)> = Vec::new();
        for (score, is_near) in pairs {
            near += u64::from(is_near);
            let score = score.filter(|score| !matches!(score, Score::Fraction(0, _)));
            scored.extend(score.map(|score| (canonical(score), is_near)));
        }
        scored.sort_unstable();
        let (mut hits, mut false_hits) = (0, 0);
        let ties = scored.chunk_by(|a, b| a.0 == b.0);
        let points = ties.map(|tie| {
            let more = tie.iter().filter(|(_, is_near)| *is_near).count() as u64;
            hits += more;
            false_hits += tie.len() as u64 - more;
            Point {
                threshold: tie[0].0,
                hits,
                false_hits,
                near,
            }
        });
        Sweep {
            points: points.collect(),
        }
    }

    /// The points, nearest threshold first, so that recall never decreases.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The point with the largest F1, the nearest of equal ones; `None` if no threshold has a hit.
    pub fn best(&self) -> Option<Point> {
        let hitting = self.points.iter().copied().filter(|point| point.hits > 0);
        hitting.reduce(|best, point| {
            if best.f1().is_at_least(point.f1()) {
                best
            } else {
                point
            }
        })
    }

    /// The point with the largest recall among those with hits and a precision of at least
    /// `wanted`, the nearest of equal ones; `None` if there is none.
    pub fn with_precision(&self, wanted: Proportion) -> Option<Point> {
        let good = |point: &Point| point.hits > 0 && point.precision().is_at_least(wanted);
        let good = self.points.iter().copied().filter(good);
        good.reduce(|best, point| if best.hits >= point.hits { best } else { point })
    }

    /// The average precision: the sum of each increase of recall times the precision at it; `None`
    /// without near pairs. Recall that no threshold reaches contributes nothing.
    pub fn average_precision(&self) -> Option<f64> {
        let near = self
            .points
            .last()
            .map(|point| point.near)
            .filter(|&near| near > 0)?;
        let (mut sum, mut before) = (0.0, 0);
        for point in &self.points {
            let step = (point.hits - before) as f64;
            before = point.hits;
            sum += step * point.precision().value().unwrap_or(0.0);
        }
        Some(sum / near as f64)
    }
}

/// The canonical form of a score: fractions are reduced.
fn canonical(score: Score) -> Score {
    let Score::Fraction(numerator, denominator) = score else {
        return score;
    };
    let denominator = denominator.max(1);
    let (mut divisor, mut rest) = (numerator, denominator);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    Score::Fraction(numerator / divisor, denominator / divisor)
}

// Promise (Methods and their evaluation): Counts, curves, intervals, clusters and agreement …
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scores() -> impl Strategy<Value = Vec<(Option<Score>, bool)>> {
        let distances = prop::option::of((0u32..9).prop_map(Score::Distance));
        let fractions =
            prop::option::of((0u64..5, 0u64..5).prop_map(|(n, d)| Score::Fraction(n, d)));
        prop_oneof![
            prop::collection::vec((distances, any::<bool>()), 0..30),
            prop::collection::vec((fractions, any::<bool>()), 0..30),
        ]
    }

    /// The counts of one threshold, by comparing every pair.
    fn naive(pairs: &[(Option<Score>, bool)], threshold: Score) -> Point {
        let accepted = |score: Option<Score>| score.is_some_and(|score| score <= threshold);
        let count = |wanted: bool| {
            let pairs = pairs
                .iter()
                .filter(|&&(score, near)| near == wanted && accepted(score));
            pairs.count() as u64
        };
        Point {
            threshold,
            hits: count(true),
            false_hits: count(false),
            near: pairs.iter().filter(|pair| pair.1).count() as u64,
        }
    }

    proptest! {
        #[test]
        fn a_sweep_is_every_threshold_by_itself(pairs in scores(), wanted in 0u64..=4) {
            let sweep = Sweep::new(pairs.iter().copied());
            let mut thresholds: Vec<Score> = pairs.iter().filter_map(|pair| pair.0).collect();
            // A similarity of 0 is not a threshold.
            thresholds.retain(|score| !matches!(score, Score::Fraction(0, _)));
            thresholds.sort();
            thresholds.dedup();
            let naive: Vec<Point> = thresholds.iter().map(|&at| naive(&pairs, at)).collect();
            prop_assert_eq!(sweep.points(), &naive[..]);

            let f1 = |point: &Point| point.f1().value().unwrap_or(0.0);
            let best = naive.iter().map(f1).fold(0.0, f64::max);
            prop_assert_eq!(sweep.best().as_ref().map_or(0.0, f1), best);
            let first = naive.iter().find(|point| f1(point) == best && point.hits > 0);
            prop_assert_eq!(sweep.best(), first.copied());

            let good = naive.iter().filter(|point| {
                point.hits > 0 && 4 * point.hits >= wanted * (point.hits + point.false_hits)
            });
            let most = good.clone().map(|point| point.hits).max();
            let expected = good.clone().find(|point| Some(point.hits) == most);
            prop_assert_eq!(sweep.with_precision(Proportion::new(wanted, 4)), expected.copied());
        }
    }

    #[test]
    fn an_example_by_hand() {
        let scored = [(0, true), (1, true), (1, false), (2, false), (3, true)];
        let pairs = scored.map(|(bits, near)| (Some(Score::Distance(bits)), near));
        let sweep = Sweep::new(pairs.into_iter().chain([(None, true)]));
        let counts: Vec<_> = sweep
            .points()
            .iter()
            .map(|p| (p.hits, p.false_hits))
            .collect();
        assert_eq!(counts, [(1, 0), (2, 1), (2, 2), (3, 2)]);
        // F1 is 2/5, 4/7, 4/8, 6/9.
        assert_eq!(sweep.best().unwrap().threshold, Score::Distance(3));
        let strict = sweep.with_precision(Proportion::new(1, 1)).unwrap();
        assert_eq!(strict.threshold, Score::Distance(0));
        // (1 * 1 + 1 * 2/3 + 1 * 3/5) / 4
        let average = sweep.average_precision().unwrap();
        assert!((average - (1.0 + 2.0 / 3.0 + 0.6) / 4.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_to_find_has_no_best_point() {
        let far = Sweep::new([(Some(Score::Distance(1)), false)]);
        assert_eq!((far.best(), far.average_precision()), (None, None));
        assert_eq!(far.with_precision(Proportion::new(0, 1)), None);
        assert_eq!(Sweep::new([]).best(), None);
    }
}
