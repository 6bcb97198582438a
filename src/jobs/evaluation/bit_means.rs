//! How often each bit of a method's fingerprints is set.

use crate::sketch::accidental::Chance;
use crate::sketch::{Score, Shape};

/// The share of a method's fingerprints in which each bit is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BitMeans(Vec<f64>);

impl BitMeans {
    /// The shares in `sketches`; empty for a method without fingerprints.
    pub fn of<'s>(shape: Shape, sketches: impl Iterator<Item = &'s [u8]>) -> BitMeans {
        let Shape::Bits { width, .. } = shape else {
            return BitMeans::default();
        };
        let (mut ones, mut count) = (vec![0u64; width as usize], 0u64);
        for sketch in sketches {
            count += 1;
            for (bit, ones) in ones.iter_mut().enumerate() {
                let byte = sketch.get(bit / 8).copied().unwrap_or_default();
                *ones += u64::from(byte >> (bit % 8) & 1);
            }
        }
        let mean = |ones: u64| ones as f64 / count.max(1) as f64;
        BitMeans(ones.into_iter().map(mean).collect())
    }

    /// The expected number of accidental neighbours of a document among `documents`; `None` for a
    /// method without fingerprints.
    pub fn accidents(&self, score: Score, documents: u64) -> Option<f64> {
        match score {
            Score::Distance(bits) if !self.0.is_empty() => {
                Some(Chance::with_means(&self.0, bits).hits_per_query(documents))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accidental_neighbours_depend_on_the_bits() {
        let shape = Shape::Bits {
            width: 8,
            distance: 0,
        };
        let even = BitMeans::of(shape, [[0x00], [0xFF]].iter().map(|sketch| &sketch[..]));
        let hits = even.accidents(Score::Distance(0), 256).unwrap();
        assert!((hits - 1.0).abs() < 1e-9, "{hits}");
        let equal = BitMeans::of(shape, [[7u8], [7]].iter().map(|sketch| &sketch[..]));
        assert_eq!(equal.accidents(Score::Distance(0), 256), Some(256.0));
        assert_eq!(equal.accidents(Score::Fraction(1, 2), 256), None);
        assert_eq!(
            BitMeans::of(Shape::Keys, std::iter::empty()),
            BitMeans::default()
        );
    }
}
