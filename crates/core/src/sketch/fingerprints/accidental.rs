//! The probability that fingerprints of unrelated documents match, by which `tune` refuses distances.

/// The probability that two unrelated fingerprints are within a distance.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Chance(f64);

impl Chance {
    /// For independent bits, where bit j is one with probability `means[j]`.
    ///
    /// Two fingerprints differ in bit j with probability 2 p (1 - p). The number of differing bits
    /// has a Poisson-binomial distribution, computed exactly, bit by bit; O(width * distance). Bits
    /// of real fingerprints are correlated, so real numbers are higher.
    pub fn with_means(means: &[f64], distance: u32) -> Chance {
        let distance = (distance as usize).min(means.len());
        // The probability of each number of differing bits so far, up to `distance`.
        let mut exactly = vec![0.0; distance + 1];
        exactly[0] = 1.0;
        for mean in means {
            let differs = 2.0 * mean * (1.0 - mean);
            for bits in (1..=distance).rev() {
                exactly[bits] = exactly[bits] * (1.0 - differs) + exactly[bits - 1] * differs;
            }
            exactly[0] *= 1.0 - differs;
        }
        Chance(exactly.iter().sum())
    }

    /// The probability.
    pub fn probability(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
    }

    #[test]
    fn uniform_bits_are_counted_combinations() {
        let uniform = |width, distance| Chance::with_means(&vec![0.5; width], distance);
        // 1 + 64 + 2016 + 41 664.
        let expected = 43_745.0 / 64f64.exp2();
        assert!(close(uniform(64, 3).probability(), expected));
        assert!(close(uniform(7, 7).probability(), 1.0));
        assert!(close(uniform(7, u32::MAX).probability(), 1.0));
        assert!(close(uniform(0, 0).probability(), 1.0));
    }

    #[test]
    fn skewed_bits_by_all_pairs_of_fingerprints() {
        let means = [0.1, 0.5, 0.93, 0.0, 0.3];
        let probability = |bits: u32| -> f64 {
            let of_bit = |(column, mean): (usize, &f64)| match bits >> column & 1 {
                1 => *mean,
                _ => 1.0 - mean,
            };
            means.iter().enumerate().map(of_bit).product()
        };
        for distance in 0..6 {
            let pairs = (0..32u32).flat_map(|a| (0..32u32).map(move |b| (a, b)));
            let near = pairs.filter(|(a, b)| (a ^ b).count_ones() <= distance);
            let expected: f64 = near.map(|(a, b)| probability(a) * probability(b)).sum();
            assert!(close(
                Chance::with_means(&means, distance).probability(),
                expected
            ));
        }
    }
}
