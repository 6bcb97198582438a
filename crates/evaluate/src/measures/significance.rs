//! Significance of the difference of two methods.

/// The two-sided p-value of McNemar's exact test.
///
/// `only_a` and `only_b` are the numbers of pairs that only the first and only the second of two
/// methods judged correctly. Under the null hypothesis, both cases are equally likely for each
/// pair. The value is not corrected for multiple comparisons. O(`only_a` + `only_b`). Source:
/// McNemar, Note on the sampling error of the difference between correlated proportions,
/// Psychometrika 12, 1947; the exact form is the sign test.
pub fn mcnemar(only_a: u64, only_b: u64) -> f64 {
    let (few, count) = (only_a.min(only_b), only_a + only_b);
    if only_a == only_b {
        return 1.0;
    }
    // Binomial coefficients relative to the middle one; those that underflow are negligible.
    let middle = count / 2;
    let (mut weight, mut tail, mut left_half) = (1.0, 0.0, 0.0);
    for number in (0..=middle).rev() {
        left_half += weight;
        if number <= few {
            tail += weight;
        }
        weight *= number as f64 / (count - number + 1) as f64;
        if weight == 0.0 {
            break;
        }
    }
    // The distribution is symmetric; with an even count the middle occurs once.
    let all = 2.0 * left_half - if count % 2 == 0 { 1.0 } else { 0.0 };
    (2.0 * tail / all).min(1.0)
}

// Promise (Methods and their evaluation): Counts, curves, intervals, clusters and agreement …
#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, in integers: twice the tail of a row of Pascal's triangle, divided by 2^n.
    fn naive(only_a: u64, only_b: u64) -> f64 {
        let count = only_a + only_b;
        let mut row = vec![1_u128];
        for _ in 0..count {
            let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
            row = [1].into_iter().chain(inner).chain([1]).collect();
        }
        let tail: u128 = row[..=only_a.min(only_b) as usize].iter().sum();
        (2.0 * tail as f64 / 2_f64.powi(count as i32)).min(1.0)
    }

    #[test]
    fn equals_the_definition() {
        for only_a in 0..40 {
            for only_b in 0..40 {
                let (fast, slow) = (mcnemar(only_a, only_b), naive(only_a, only_b));
                assert!(
                    (fast - slow).abs() <= 1e-12 * slow,
                    "{only_a} {only_b}: {fast} {slow}"
                );
            }
        }
    }

    #[test]
    fn examples_by_hand() {
        assert_eq!(mcnemar(0, 0), 1.0);
        assert_eq!(mcnemar(0, 5), 2.0 / 32.0);
        assert!((mcnemar(7, 1) - 18.0 / 256.0).abs() < 1e-15);
    }

    #[test]
    fn large_counts_neither_fail_nor_take_long() {
        assert_eq!(mcnemar(0, 10_000_000), 0.0);
        let even = mcnemar(1_000_000, 1_000_001);
        assert!((0.999..=1.0).contains(&even), "{even}");
        // Two standard deviations of the normal approximation: 4.55 %.
        let two_sigma = mcnemar(499_000, 501_000);
        assert!((0.045..0.046).contains(&two_sigma), "{two_sigma}");
    }
}
