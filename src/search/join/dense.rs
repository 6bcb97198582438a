//! Vectors of which most share most of their features, such as counts of characters.
//!
//! No order of features has prefixes that few share, so all vectors are looked at, but for each only
//! a few numbers. Let A = |a|², B = |b|², and θ ≤ ab / (A + B − ab), so ab ≥ k (A + B) for
//! k = θ/(1+θ).
//!
//! *Norms.* As ab ≤ |a||b|, norms must be alike: |a||b| ≥ k (A + B).
//!
//! *Slots.* The features are dealt into slots, and a_s is the part of a in a slot: by Cauchy and
//! Schwarz in each, ab ≤ Σ |a_s||b_s|. The heaviest features of all vectors have a slot each, where
//! that is exact, and the others share some. Most pairs need no more than this product of 64 numbers
//! of 16 bits.
//!
//! Sources: the bound by norms of parts is that of Bayardo, Ma and Srikant, "Scaling Up All Pairs
//! Similarity Search", WWW 2007, there of prefixes and their rests. Floating-point numbers are rounded
//! so that nothing is missed, and decide no answer.

use std::ops::Range;

use ahash::AHashMap;

use super::fold::Fold;
use crate::sketch::{Likeness, Sketches, Vectors};
use crate::{Error, ErrorKind, Result};

/// Slots of a vector.
const SLOTS: usize = 64;
/// So many are of one feature.
const OWN: usize = 48;
/// A slot that has all of a vector; not quite the largest number, as shares are rounded up.
const WHOLE: f64 = 32_000.0;
/// More than all roundings together.
const SLACK: f32 = 1.0 + 1e-5;

/// The norm of a vector, and how large it is in each slot.
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

/// Outlines of vectors.
pub(super) struct Dense<'a> {
    vectors: Vectors<'a>,
    /// The slots of the heaviest features.
    own: AHashMap<u64, usize>,
    /// Of each group.
    outlines: Vec<Outline>,
    /// 1 / k.
    norms: f32,
    /// The same for products of slots.
    products: f32,
}

impl<'a> Dense<'a> {
    pub(super) const BYTES: usize = size_of::<Outline>();

    /// The heaviest features are those that have most of the vectors' squared norms.
    pub(super) fn build(
        vectors: Vectors<'a>,
        sketches: Sketches<'_>,
        fold: &Fold,
        memory_bytes: usize,
    ) -> Result<Dense<'a>> {
        let bytes = fold.count() as usize * Self::BYTES;
        if bytes > memory_bytes {
            let message = format!(
                "{} outlines of sketches need {bytes} bytes of memory: there are {memory_bytes}",
                fold.count()
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        let groups = || (0..fold.count()).map(|group| sketches.get(fold.first(group) as usize));
        let mut weights: AHashMap<u64, f64> = AHashMap::new();
        for sketch in groups() {
            let whole = squared_norm(&vectors, sketch);
            vectors.features(sketch, &mut |feature| {
                *weights.entry(feature.name).or_default() += square(feature.weight) / whole;
            });
        }
        let mut heaviest: Vec<(u64, f64)> = weights.into_iter().collect();
        heaviest.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let own = heaviest.into_iter().map(|(name, _)| name).zip(0..OWN);
        let Likeness {
            least: (least, of), ..
        } = vectors.likeness;
        let limit = (least as f64 + of as f64) / least as f64;
        let mut dense = Dense {
            own: own.collect(),
            outlines: Vec::with_capacity(fold.count() as usize),
            norms: limit as f32 * SLACK,
            products: (limit / (WHOLE * WHOLE)) as f32 * SLACK,
            vectors,
        };
        for sketch in groups() {
            let outline = dense.outline(sketch);
            dense.outlines.push(outline);
        }
        Ok(dense)
    }

    pub(super) fn outline(&self, sketch: &[u8]) -> Outline {
        let mut slots = [0.0; SLOTS];
        self.vectors.features(sketch, &mut |feature| {
            let shared = OWN + (feature.name % (SLOTS - OWN) as u64) as usize;
            let slot = self.own.get(&feature.name).copied().unwrap_or(shared);
            slots[slot] += square(feature.weight);
        });
        let norm = slots.iter().sum::<f64>().sqrt();
        Outline {
            norm: norm as f32,
            slots: slots.map(|square: f64| (square.sqrt() / norm * WHOLE).ceil() as i16),
        }
    }

    /// Appends the groups among `groups` that the query may be like, ascending, no more than
    /// `limit`; returns where it stopped.
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

    /// Those among `groups` that the query may be like.
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
