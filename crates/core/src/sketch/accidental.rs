//! Expected numbers of accidental matches of fingerprints.
//!
//! The estimates help users to choose a width and a distance: they are the matches among unrelated
//! documents.

use crate::kernel::columns::MAX_COLUMNS;

/// The probability that two unrelated fingerprints are within a distance.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Chance(f64);

impl Chance {
    /// For uniform independent bits: Σ_{i≤distance} C(width, i) / 2^width.
    pub fn uniform(width: u32, distance: u32) -> Chance {
        let means = vec![0.5; width as usize];
        Chance::with_means(&means, distance)
    }

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

    /// For `count` fingerprints of `width` bits, of which `ones[j]` have bit j set, as counted by
    /// [`Columns::count`](crate::kernel::columns::Columns::count); 0 without fingerprints.
    ///
    /// # Panics
    /// If `width` exceeds 128.
    pub fn measured(ones: &[u32; MAX_COLUMNS], count: u64, width: u32, distance: u32) -> Chance {
        if count == 0 {
            return Chance(0.0);
        }
        let means = ones[..width as usize].iter();
        let means: Vec<f64> = means.map(|&ones| f64::from(ones) / count as f64).collect();
        Chance::with_means(&means, distance)
    }

    /// The probability.
    pub fn probability(self) -> f64 {
        self.0
    }

    /// The expected number of accidental hits of one query among `count` fingerprints.
    pub fn hits_per_query(self, count: u64) -> f64 {
        self.0 * count as f64
    }

    /// The expected number of accidental pairs among `count` fingerprints.
    pub fn pairs(self, count: u64) -> f64 {
        self.0 * count as f64 * count.saturating_sub(1) as f64 / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
    }

    #[test]
    fn narrow_fingerprints_have_accidents() {
        let near = Chance::uniform(32, 3).hits_per_query(10_000_000);
        let equal = Chance::uniform(32, 0).hits_per_query(10_000_000);
        assert!((near - 12.8).abs() < 0.05, "{near}");
        assert!((equal - 0.0023).abs() < 0.00005, "{equal}");
    }

    #[test]
    fn uniform_bits_are_counted_combinations() {
        // 1 + 64 + 2016 + 41 664.
        let expected = 43_745.0 / 64f64.exp2();
        assert!(close(Chance::uniform(64, 3).probability(), expected));
        assert!(close(Chance::uniform(7, 7).probability(), 1.0));
        assert!(close(Chance::uniform(7, u32::MAX).probability(), 1.0));
        assert!(close(Chance::uniform(0, 0).probability(), 1.0));
    }

    #[test]
    fn pairs_of_a_self_join() {
        let chance = Chance::uniform(1, 0);
        assert!(close(chance.pairs(5), 5.0));
        assert_eq!((chance.pairs(0), chance.pairs(1)), (0.0, 0.0));
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

    #[test]
    fn measured_means() {
        let mut ones = [0; MAX_COLUMNS];
        ones[..3].copy_from_slice(&[1, 5, 10]);
        let expected = Chance::with_means(&[0.1, 0.5, 1.0], 1);
        assert_eq!(Chance::measured(&ones, 10, 3, 1), expected);
        assert_eq!(Chance::measured(&ones, 0, 3, 1).probability(), 0.0);
    }
}
