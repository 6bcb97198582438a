//! Weights of features.

use std::fmt;

use ahash::AHashMap;

use crate::text::WordSet;
use crate::vocabulary::Frequencies;

/// Fractional bits of a weight.
pub(super) const FRACTION_BITS: u32 = 16;

/// The weight of a feature that occurs tf times in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// tf: every occurrence has weight 1.
    #[default]
    Tf,
    /// 1 + log2 tf, rounded down to 16 fractional bits.
    LogTf,
    /// tf · log2(N/df), in a collection of N documents of which df have the feature.
    TfIdf(Idf),
    /// 1 for any number of occurrences.
    Once,
    /// tf for the features whose 64-bit hash is in the set, for any width of fingerprints; 0 for
    /// all others.
    Top(WordSet),
}

impl fmt::Display for Weights {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weights::Tf => out.write_str("tf"),
            Weights::LogTf => out.write_str("log-tf"),
            Weights::TfIdf(idf) => write!(out, "tf-idf of {idf}"),
            Weights::Once => out.write_str("once"),
            Weights::Top(features) => write!(out, "tf of {features}"),
        }
    }
}

/// log2(N/df) of the features of a collection, with 16 fractional bits.
///
/// A feature that was not counted is assumed to be in one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idf {
    weights: AHashMap<u64, u64>,
    rarest: u64,
    /// A description of the counted frequencies.
    frequencies: String,
}

impl Idf {
    /// The weights for these document frequencies.
    pub fn new(frequencies: &Frequencies) -> Idf {
        let weight = |df: u64| inverse_frequency(frequencies.documents(), df);
        let counted = frequencies.iter();
        let weights = counted.map(|(feature, df)| (feature, weight(df)));
        Idf {
            weights: weights.collect(),
            rarest: weight(1),
            frequencies: frequencies.to_string(),
        }
    }

    /// The weight of one occurrence of a feature, identified by its 64-bit hash.
    pub(crate) fn weight(&self, feature: u64) -> u64 {
        self.weights.get(&feature).copied().unwrap_or(self.rarest)
    }
}

impl fmt::Display for Idf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.frequencies)
    }
}

/// 1 + log2 of `count` with [`FRACTION_BITS`] fractional bits, rounded down; `count` must be
/// positive.
///
/// Uses repeated squaring of integers, so that every machine computes the same.
pub(crate) fn log_weight(count: u64) -> u64 {
    let whole = count.ilog2();
    // The mantissa, 1 to 2, with 63 fractional bits.
    let mut mantissa = u128::from(count << (63 - whole));
    let mut weight = u64::from(whole) + 1;
    for _ in 0..FRACTION_BITS {
        mantissa = (mantissa * mantissa) >> 63;
        let bit = mantissa >> 64;
        mantissa >>= bit;
        weight = weight << 1 | bit as u64;
    }
    weight
}

/// log2 of `documents` / `with_feature`, the inverse document frequency, with [`FRACTION_BITS`]
/// fractional bits.
///
/// The difference of two logarithms that are rounded down; zero for a feature of all documents, and
/// for inconsistent numbers. A frequency of 0 counts as 1.
pub(crate) fn inverse_frequency(documents: u64, with_feature: u64) -> u64 {
    log_weight(documents.max(1)).saturating_sub(log_weight(with_feature.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_rounded_down() {
        for count in (1..5000).chain([1 << 20, (1 << 20) + 1, 1 << 40, u64::MAX]) {
            let exact = (1.0 + (count as f64).log2()) * f64::from(1 << FRACTION_BITS);
            let weight = log_weight(count) as f64;
            assert!(
                weight <= exact + 1e-6 && weight > exact - 1.001,
                "{count}: {weight} for {exact}"
            );
        }
        for power in 0..64 {
            assert_eq!(log_weight(1 << power), (power + 1) << FRACTION_BITS);
        }
        assert_eq!(log_weight(3), 65_536 + 103_872);
    }
    #[test]
    fn rare_features_weigh_most() {
        let idf = Idf::new(&Frequencies::new(
            1000,
            [(1, 1000), (2, 10), (3, 0), (4, 2000)],
        ));
        let one = f64::from(1 << FRACTION_BITS);
        let exact = |ratio: f64| ratio.log2() * one;
        for (feature, ratio) in [(1, 1.0), (2, 100.0), (3, 1000.0), (4, 1.0), (5, 1000.0)] {
            let difference = idf.weight(feature) as f64 - exact(ratio);
            assert!(difference.abs() <= 1.0, "{feature}: {difference}");
        }
        assert_eq!(Idf::new(&Frequencies::default()).weight(7), 0);
    }

    #[test]
    fn inverse_frequencies() {
        assert_eq!(inverse_frequency(1024, 1), 10 << FRACTION_BITS);
        assert_eq!(inverse_frequency(1024, 0), 10 << FRACTION_BITS);
        assert_eq!(inverse_frequency(96, 3), 5 << FRACTION_BITS);
        for (documents, with_feature) in [(0, 0), (1, 1), (7, 7), (3, 8), (u64::MAX, u64::MAX)] {
            assert_eq!(inverse_frequency(documents, with_feature), 0);
        }
    }
}
