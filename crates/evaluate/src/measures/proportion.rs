//! Proportions of counts, and their confidence intervals.

/// The quantile of the normal distribution for a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// A proportion: `part` out of `whole`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// The numerator.
    pub part: u64,
    /// The denominator; if it is 0, the proportion is undefined.
    pub whole: u64,
}

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Proportion {
    /// The proportion of `part` out of `whole`.
    pub fn new(part: u64, whole: u64) -> Proportion {
        Proportion { part, whole }
    }

    /// The value as a number, for display; `None` if undefined.
    pub fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }

    /// Wilson's 95 % score interval; `None` if undefined.
    ///
    /// It assumes independent trials. Source: Wilson, Probable inference, the law of succession,
    /// and statistical inference, JASA 22, 1927; recommended by Newcombe, Two-sided confidence
    /// intervals for the single proportion, Statistics in Medicine 17, 1998.
    pub fn interval(self) -> Option<Interval> {
        let value = self.value()?;
        let count = self.whole as f64;
        let scale = 1.0 + Z * Z / count;
        let centre = (value + Z * Z / (2.0 * count)) / scale;
        let variance = value * (1.0 - value) / count + Z * Z / (4.0 * count * count);
        let half = Z * variance.sqrt() / scale;
        // At the proportions 0 and 1, the outer bound is exactly 0 or 1; computing it would add a
        // rounding error.
        let low = if self.part == 0 { 0.0 } else { centre - half };
        let high = if self.part >= self.whole {
            1.0
        } else {
            centre + half
        };
        Some(Interval {
            low: low.max(0.0),
            high: high.min(1.0),
        })
    }

    /// Whether this is at least `other`, compared exactly; an undefined proportion is less than any
    /// other.
    pub fn is_at_least(self, other: Proportion) -> bool {
        self.whole > 0
            && u128::from(self.part) * u128::from(other.whole)
                >= u128::from(other.part) * u128::from(self.whole)
    }
}

// Promise (Methods and their evaluation): Counts, curves, intervals, clusters and agreement …
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_published_ones() {
        // Newcombe 1998, table I, method 3 (score, without continuity correction).
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = Proportion::new(part, whole).interval().unwrap();
            let distance = (interval.low - low).abs().max((interval.high - high).abs());
            assert!(distance < 0.000_05, "{part} of {whole}: {interval:?}");
            let mirrored = Proportion::new(whole - part, whole).interval().unwrap();
            assert!((mirrored.low + interval.high - 1.0).abs() < 1e-12);
            assert!((mirrored.high + interval.low - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_share_of_nothing_is_not_defined() {
        let nothing = Proportion::new(0, 0);
        assert_eq!((nothing.value(), nothing.interval()), (None, None));
        assert!(!nothing.is_at_least(Proportion::new(0, 1)));
    }

    #[test]
    fn shares_are_compared_exactly() {
        let nearly = Proportion::new(u64::MAX - 1, u64::MAX);
        assert!(Proportion::new(1, 1).is_at_least(nearly));
        assert!(!nearly.is_at_least(Proportion::new(1, 1)));
        assert!(Proportion::new(1, 2).is_at_least(Proportion::new(2, 4)));
    }
}
