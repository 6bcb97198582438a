//! Hits and mistakes.

use super::share::Share;

/// What a method made of the pairs of which it is known what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Near pairs that it found.
    pub hits: u64,
    /// Far pairs that it found.
    pub false_hits: u64,
    /// Near pairs that it did not find.
    pub misses: u64,
    /// Far pairs that it did not find.
    pub rejections: u64,
}

impl Counts {
    /// Hits among what was found.
    pub fn precision(self) -> Share {
        Share::new(self.hits, self.hits + self.false_hits)
    }

    /// Hits among what is near.
    pub fn recall(self) -> Share {
        Share::new(self.hits, self.hits + self.misses)
    }

    /// Their harmonic mean.
    pub fn f1(self) -> Share {
        let hits = 2 * self.hits;
        Share::new(hits, hits + self.false_hits + self.misses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_is_the_harmonic_mean() {
        let counts = Counts {
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
        assert_eq!(Counts::default().f1().value(), None);
    }
}
