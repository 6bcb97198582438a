//! Sketches as vectors of features, for exact joins.
//!
//! Keys depend on one sketch alone. A join of many sketches can use fewer candidates, since it
//! knows which features are rare among them. For that it needs the features.

use super::sets;

/// A similarity measure of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorMeasure {
    /// Σ min(a, b) / Σ max(a, b): the overlap divided by the union.
    Jaccard,
    /// Σ min(a, b) / min(Σ a, Σ b): the overlap divided by the smaller one.
    Smaller,
    /// Σ min(a, b) / max(Σ a, Σ b): the overlap divided by the larger one.
    Larger,
    /// Σ ab / (Σ a² + Σ b² − Σ ab), the extended Jaccard coefficient.
    Extended,
}

/// The condition for similar vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimilarityRule {
    /// The similarity measure.
    pub measure: VectorMeasure,
    /// The threshold: a numerator, and a denominator that is not smaller and not zero.
    pub least: (u64, u64),
    /// The number of vectors of a sketch, usually one; vectors of the same part are compared.
    pub parts: u32,
}

/// Sketches as vectors of features.
///
/// Two sketches are near only if the similarity of their vectors of at least one part reaches the
/// threshold.
pub struct Vectors<'m> {
    /// The condition for the vectors of a part.
    pub rule: SimilarityRule,
    features: Box<Features<'m>>,
}

type Features<'m> = dyn Fn(&[u8], &mut dyn FnMut(Feature)) + Send + Sync + 'm;

impl<'m> Vectors<'m> {
    /// Vectors whose features `features` emits.
    pub fn new(
        rule: SimilarityRule,
        features: impl Fn(&[u8], &mut dyn FnMut(Feature)) + Send + Sync + 'm,
    ) -> Vectors<'m> {
        Vectors {
            rule,
            features: Box::new(features),
        }
    }

    /// Vectors of sets of 64-bit hashes, in the format of [`sets`].
    pub(crate) fn of_sets(measure: VectorMeasure, least: (u64, u64)) -> Vectors<'m> {
        let rule = SimilarityRule {
            measure,
            least,
            parts: 1,
        };
        Vectors::new(rule, |sketch, emit| {
            let hashes = sets::read(sketch);
            hashes
                .iter()
                .for_each(|&name| emit(Feature::element(0, name)));
        })
    }

    /// Calls `emit` once for each feature of each part of a sketch.
    ///
    /// # Panics
    /// If `sketch` is not a sketch of the method.
    pub fn features(&self, sketch: &[u8], emit: &mut dyn FnMut(Feature)) {
        (self.features)(sketch, emit);
    }
}

/// A nonzero component of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The part: the index of the vector in the sketch.
    pub part: u32,
    /// The identity of the feature, the same in all sketches.
    pub name: u64,
    /// The weight; at most 32 bits for the measures that sum minima.
    pub weight: u64,
}

impl Feature {
    /// An element of a set.
    pub(crate) fn element(part: u32, name: u64) -> Feature {
        Feature {
            part,
            name,
            weight: 1,
        }
    }
}
