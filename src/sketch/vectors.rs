//! Sketches as vectors of features: what an exact join needs to know beyond keys.
//!
//! Keys are decided by one sketch alone; a join that sees all sketches can do better, since it knows
//! which features are rare among them. For that it has to see the features.

use super::sets;

/// How alike two vectors are: a share of what they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Σ min(a, b) / Σ max(a, b): of all that either has.
    Jaccard,
    /// Σ min(a, b) / min(Σ a, Σ b): of the smaller one.
    Smaller,
    /// Σ min(a, b) / max(Σ a, Σ b): of the larger one.
    Larger,
    /// Σ ab / (Σ a² + Σ b² − Σ ab), the extended Jaccard coefficient.
    Extended,
}

/// When vectors are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// Of what the share is.
    pub measure: Measure,
    /// The least share: a numerator, and a denominator that is no smaller and not zero.
    pub least: (u64, u64),
    /// A sketch is so many vectors, each compared with its like; mostly one.
    pub parts: u32,
}

/// Sketches as vectors of features.
///
/// Two sketches are near only if their vectors of at least one part have a share in common that
/// reaches the least one.
pub struct Vectors<'m> {
    /// When the vectors of a part are alike.
    pub likeness: Likeness,
    features: Box<Features<'m>>,
}

type Features<'m> = dyn Fn(&[u8], &mut dyn FnMut(Feature)) + Send + Sync + 'm;

impl<'m> Vectors<'m> {
    /// Vectors whose features `features` hands over.
    pub fn new(
        likeness: Likeness,
        features: impl Fn(&[u8], &mut dyn FnMut(Feature)) + Send + Sync + 'm,
    ) -> Vectors<'m> {
        Vectors {
            likeness,
            features: Box::new(features),
        }
    }

    /// Those of sets of 64-bit hashes, as [`sets`] writes them.
    pub(super) fn of_sets(measure: Measure, least: (u64, u64)) -> Vectors<'m> {
        let likeness = Likeness {
            measure,
            least,
            parts: 1,
        };
        Vectors::new(likeness, |sketch, emit| {
            let hashes = sets::read(sketch);
            hashes
                .iter()
                .for_each(|&name| emit(Feature::element(0, name)));
        })
    }

    /// Hands each feature of each part of a sketch, once, with its weight to `emit`.
    ///
    /// # Panics
    /// If `sketch` is none of the method's.
    pub fn features(&self, sketch: &[u8], emit: &mut dyn FnMut(Feature)) {
        (self.features)(sketch, emit);
    }
}

/// A component of a vector that is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Which of the sketch's vectors it is in.
    pub part: u32,
    /// What it is: the same in all sketches.
    pub name: u64,
    /// How often it occurs: where minima are summed, a number of 32 bits.
    pub weight: u64,
}

impl Feature {
    /// An element of a set.
    pub(super) fn element(part: u32, name: u64) -> Feature {
        Feature {
            part,
            name,
            weight: 1,
        }
    }
}
