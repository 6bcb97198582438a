//! Search of vectors that have most features in common, such as counts of characters.
//!
//! Prefix filtering does not help here, since every feature is common. Instead, every vector is
//! compared by a few numbers. Let A = |a|², B = |b|², and θ ≤ ab / (A + B − ab), so ab ≥ k (A + B)
//! for k = θ/(1+θ).
//!
//! *Norms.* As ab ≤ |a||b|, norms must be similar: |a||b| ≥ k (A + B).
//!
//! *Slots.* Each feature is assigned to a slot, and a_s is the part of a with the features of slot
//! s. By the Cauchy–Schwarz inequality in each slot, ab ≤ Σ |a_s||b_s|. The heaviest features have
//! a slot each, where the bound is exact; the others share the remaining slots. This dot product of
//! 64 numbers of 16 bits rejects most pairs.
//!
//! Anastasiu and Karypis, "L2AP: Fast Cosine Similarity Search With Prefix L-2 Norm Bounds", ICDE
//! 2014, bound prefixes and rests by their norms in this way. Floating-point numbers are rounded so
//! that no near pair is missed; they only select candidates.

use std::ops::Range;

use ahash::AHashMap;

use super::fold::EqualSketches;
use crate::sketch::{SimilarityRule, Sketches, Vectors};
use crate::{Error, ErrorKind, Result};

/// Number of slots of a vector.
const SLOTS: usize = 64;
/// Number of slots that belong to one feature.
const SINGLE_FEATURE_SLOTS: usize = 48;
/// The value of a slot that has the whole norm; below `i16::MAX`, since values are rounded up.
const WHOLE: f64 = 32_000.0;
/// Factor that exceeds all rounding errors together.
const SLACK: f32 = 1.0 + 1e-5;

/// The norm of a vector, and the proportion of it in each slot, as a multiple of 1 / [`WHOLE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    norm: f32,
    slots: [i16; SLOTS],
}

impl Default for Outline {
    fn default() -> Outline {
        Outline {
            norm: 0.0,
            slots: [0; SLOTS],
        }
    }
}

/// Index of vectors by their outlines.
pub(super) struct Dense<'a> {
    vectors: Vectors<'a>,
    /// The slots of the heaviest features.
    slots: AHashMap<u64, usize>,
    /// The outline of each group.
    outlines: Vec<Outline>,
    /// 1 / k, the factor for products of norms.
    norms: f32,
    /// The factor for products of slots.
    products: f32,
}

impl<'a> Dense<'a> {
    pub(super) const BYTES: usize = size_of::<Outline>();

    /// The heaviest features are those with the largest part of the squared norms of all vectors.
    pub(super) fn build(
        vectors: Vectors<'a>,
        sketches: Sketches<'_>,
        fold: &EqualSketches,
        memory_bytes: usize,
        check: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Dense<'a>> {
        let bytes = fold.count() as usize * Self::BYTES;
        if bytes > memory_bytes {
            let message = format!(
                "{} outlines of sketches need {bytes} bytes of memory: there are {memory_bytes}",
                fold.count()
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        let mut weights: AHashMap<u64, f64> = AHashMap::new();
        fold.for_each(sketches, check, |_, sketch| {
            let whole = squared_norm(&vectors, sketch);
            vectors.features(sketch, &mut |feature| {
                *weights.entry(feature.name).or_default() += square(feature.weight) / whole;
            });
        })?;
        let mut heaviest: Vec<(u64, f64)> = weights.into_iter().collect();
        heaviest.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let slots = heaviest
            .into_iter()
            .map(|(name, _)| name)
            .zip(0..SINGLE_FEATURE_SLOTS);
        let SimilarityRule {
            least: (least, of), ..
        } = vectors.rule;
        let limit = (least as f64 + of as f64) / least as f64;
        let mut dense = Dense {
            slots: slots.collect(),
            outlines: Vec::with_capacity(fold.count() as usize),
            norms: limit as f32 * SLACK,
            products: (limit / (WHOLE * WHOLE)) as f32 * SLACK,
            vectors,
        };
        fold.for_each(sketches, check, |_, sketch| {
            let outline = dense.outline(sketch);
            dense.outlines.push(outline);
        })?;
        Ok(dense)
    }

    pub(super) fn outline(&self, sketch: &[u8]) -> Outline {
        let mut slots = [0.0; SLOTS];
        self.vectors.features(sketch, &mut |feature| {
            let shared_slots = (SLOTS - SINGLE_FEATURE_SLOTS) as u64;
            let shared = SINGLE_FEATURE_SLOTS + (feature.name % shared_slots) as usize;
            let slot = self.slots.get(&feature.name).copied().unwrap_or(shared);
            slots[slot] += square(feature.weight);
        });
        let norm = slots.iter().sum::<f64>().sqrt();
        Outline {
            norm: norm as f32,
            slots: slots.map(|square: f64| (square.sqrt() / norm * WHOLE).ceil() as i16),
        }
    }

    /// Appends at most `limit` groups among `groups` that may be near the query, ascending. Returns
    /// the first group that was not examined.
    pub(super) fn find(
        &self,
        query: &Outline,
        groups: Range<u32>,
        limit: usize,
        found: &mut Vec<u32>,
    ) -> u32 {
        let end = groups.end;
        let mut admitted = self.admitted(query, groups);
        found.extend(admitted.by_ref().take(limit));
        admitted.next().unwrap_or(end)
    }

    /// Those among `groups` that may be near the query.
    pub(super) fn admitted(
        &self,
        query: &Outline,
        groups: Range<u32>,
    ) -> impl Iterator<Item = u32> {
        let outlines = &self.outlines[groups.start as usize..groups.end as usize];
        let admitted = outlines.iter().zip(groups);
        admitted.filter_map(move |(outline, group)| self.admits(query, outline).then_some(group))
    }

    #[inline]
    fn admits(&self, a: &Outline, b: &Outline) -> bool {
        let both = a.norm * b.norm;
        let squares = a.norm * a.norm + b.norm * b.norm;
        both * self.norms >= squares && {
            let slots = a.slots.iter().zip(&b.slots);
            let products = slots.map(|(a, b)| i32::from(*a) * i32::from(*b));
            products.sum::<i32>() as f32 * both * self.products >= squares
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.outlines[..])
    }
}

fn square(weight: u64) -> f64 {
    weight as f64 * weight as f64
}

fn squared_norm(vectors: &Vectors<'_>, sketch: &[u8]) -> f64 {
    let mut sum = 0.0;
    vectors.features(sketch, &mut |feature| sum += square(feature.weight));
    sum
}
