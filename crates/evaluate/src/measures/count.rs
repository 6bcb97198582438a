//! Confusion matrices: hits and mistakes.

use serde::Serialize;

use super::proportion::Proportion;

/// The verdicts of a method on the pairs whose label is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConfusionMatrix {
    /// Near pairs that were found (true positives).
    pub hits: u64,
    /// Far pairs that were found (false positives).
    pub false_hits: u64,
    /// Near pairs that were not found (false negatives).
    pub misses: u64,
    /// Far pairs that were not found (true negatives).
    pub rejections: u64,
}

impl ConfusionMatrix {
    /// The proportion of hits among found pairs.
    pub fn precision(self) -> Proportion {
        Proportion::new(self.hits, self.hits + self.false_hits)
    }

    /// The proportion of hits among near pairs.
    pub fn recall(self) -> Proportion {
        Proportion::new(self.hits, self.hits + self.misses)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(self) -> Proportion {
        let hits = 2 * self.hits;
        Proportion::new(hits, hits + self.false_hits + self.misses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_is_the_harmonic_mean() {
        let counts = ConfusionMatrix {
            hits: 6,
            false_hits: 2,
            misses: 4,
            rejections: 9,
        };
        let (precision, recall) = (0.75, 0.6);
        assert_eq!(counts.precision().value(), Some(precision));
        assert_eq!(counts.recall().value(), Some(recall));
        let mean: f64 = 2.0 * precision * recall / (precision + recall);
        assert!((counts.f1().value().unwrap() - mean).abs() < 1e-15);
        assert_eq!(ConfusionMatrix::default().f1().value(), None);
    }
}
