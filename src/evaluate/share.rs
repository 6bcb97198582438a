//! Shares of counts and what is known about them.

/// The quantile of the normal distribution for 95 % on two sides.
const Z: f64 = 1.959_963_984_540_054;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub part: u64,
    /// Of how many; the share of nothing is not defined.
    pub whole: u64,
}

/// Where a number lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Share {
    /// So many of so many.
    pub fn new(part: u64, whole: u64) -> Share {
        Share { part, whole }
    }

    /// As a number, for people; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }

    /// Wilson's score interval, 95 %; `None` of nothing.
    ///
    /// It takes the counted things for independent of each other. Source: Wilson, Probable
    /// inference, the law of succession, and statistical inference, JASA 22, 1927; recommended by
    /// Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine
    /// 17, 1998.
    pub fn interval(self) -> Option<Interval> {
        let share = self.value()?;
        let count = self.whole as f64;
        let scale = 1.0 + Z * Z / count;
        let centre = (share + Z * Z / (2.0 * count)) / scale;
        let variance = share * (1.0 - share) / count + Z * Z / (4.0 * count * count);
        let half = Z * variance.sqrt() / scale;
        // At the ends the formula gives 0 and 1, but for rounding.
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

    /// Whether it is at least another one; a share of nothing is less than any.
    pub fn is_at_least(self, other: Share) -> bool {
        self.whole > 0
            && u128::from(self.part) * u128::from(other.whole)
                >= u128::from(other.part) * u128::from(self.whole)
    }
}

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
            let interval = Share::new(part, whole).interval().unwrap();
            let distance = (interval.low - low).abs().max((interval.high - high).abs());
            assert!(distance < 0.000_05, "{part} of {whole}: {interval:?}");
            let mirrored = Share::new(whole - part, whole).interval().unwrap();
            assert!((mirrored.low + interval.high - 1.0).abs() < 1e-12);
            assert!((mirrored.high + interval.low - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_share_of_nothing_is_not_defined() {
        let nothing = Share::new(0, 0);
        assert_eq!((nothing.value(), nothing.interval()), (None, None));
        assert!(!nothing.is_at_least(Share::new(0, 1)));
    }

    #[test]
    fn shares_are_compared_exactly() {
        let nearly = Share::new(u64::MAX - 1, u64::MAX);
        assert!(Share::new(1, 1).is_at_least(nearly));
        assert!(!nearly.is_at_least(Share::new(1, 1)));
        assert!(Share::new(1, 2).is_at_least(Share::new(2, 4)));
    }
}
