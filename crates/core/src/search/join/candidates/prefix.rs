//! Prefix filtering of sets: bounds on the features and sizes of two similar sets.
//!
//! Let θ be the threshold, |x| the size of a set and o that of its overlap with a similar set y. If
//! the measure is a proportion of the union or of the larger set, o ≥ θ|x| and o ≥ θ|y|. If it is a
//! proportion of the smaller set, at least one of the two holds.
//!
//! *Prefixes.* All features are sorted by one global order. The *prefix* of x has the fewest first
//! features such that the remaining features, its *rest*, weigh less than θ|x|. If o ≥ θ|x|, y
//! contains a feature of the prefix of x. If also o ≥ θ|y|, and the prefix of x ends first in the
//! order, then the prefix of y contains every feature of y in the prefix of x.
//!
//! *Counts.* Let s be the overlap of the two prefixes. Every other shared feature is after the end
//! of the prefix that ends first: o ≤ s + max(rest x, rest y). Pairs whose bound is below the
//! overlap that their sizes require are never compared. For a proportion of the smaller set x, the
//! prefix of x is looked up among all features of the larger set: o ≤ s + rest x.
//!
//! Any order is correct. With rare features first, few sets share a feature of a prefix.
//!
//! Sources: Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins in Data
//! Cleaning", ICDE 2006; Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", WWW
//! 2007; Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW
//! 2008. Sets are multisets: the overlap takes the smaller of two counts.

use crate::search::join::rarity::Rarity;
use crate::sketch::{SimilarityRule, VectorMeasure, Vectors};

/// Fractional bits of fixed-point proportions.
const BITS: u32 = 31;

/// The bounds that a similarity threshold implies, rounded so that no similar pair is missed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimilarityBounds {
    measure: VectorMeasure,
    pub(super) parts: u32,
    /// The minimum overlap as a proportion of the sizes that the measure counts.
    share: u64,
    /// The threshold as a proportion of one set, which defines its prefix.
    of_one: u64,
}

/// The sizes of a set that bound its overlaps. They saturate at `u32::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) all: u32,
    /// The size of the rest, after the prefix.
    pub(super) rest: u32,
}

/// A feature in the order of all features of all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankedFeature {
    part: u32,
    rarity: u16,
    /// The feature's name, made different in each part.
    pub(super) key: u64,
    pub(super) weight: u32,
}

impl SimilarityBounds {
    pub(super) fn new(rule: SimilarityRule) -> SimilarityBounds {
        let (least, of) = rule.least;
        let fixed = |share: u128, of: u128| ((share << BITS) / of.max(1)).min(1 << BITS) as u64;
        let (least, of) = (u128::from(least), u128::from(of));
        let of_one = fixed(least, of);
        SimilarityBounds {
            measure: rule.measure,
            parts: rule.parts.max(1),
            share: match rule.measure {
                VectorMeasure::Jaccard => fixed(least, least + of),
                VectorMeasure::Smaller | VectorMeasure::Larger | VectorMeasure::Extended => of_one,
            },
            of_one,
        }
    }

    /// Whether the threshold may hold for the smaller set alone, so that rests are indexed too.
    pub(super) fn rests_count(&self) -> bool {
        self.measure == VectorMeasure::Smaller
    }

    /// The number of features in the prefix of a set, and its sizes.
    pub(super) fn prefix(&self, weights: impl Iterator<Item = u32> + Clone) -> (usize, Size) {
        let all: u64 = weights.clone().map(u64::from).sum();
        let needed = u128::from(all) * u128::from(self.of_one);
        let mut rest = all;
        let mut count = 0;
        for weight in weights {
            if u128::from(rest) << BITS < needed {
                break;
            }
            rest -= u64::from(weight);
            count += 1;
        }
        let [all, rest] = [all, rest].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        (count, Size { all, rest })
    }

    /// Whether two sets whose prefixes have the overlap `shared` may be similar.
    pub(super) fn admits(&self, a: Size, b: Size, shared: u32) -> bool {
        let (smaller, larger) = if a.all <= b.all { (a, b) } else { (b, a) };
        let behind = match self.measure {
            VectorMeasure::Smaller => smaller.rest,
            _ => smaller.rest.max(larger.rest),
        };
        let overlap = shared.saturating_add(behind);
        let [small, large] = [smaller, larger].map(|size| u64::from(size.all));
        let needed = match self.measure {
            VectorMeasure::Jaccard => small + large,
            VectorMeasure::Smaller => small,
            VectorMeasure::Larger | VectorMeasure::Extended => large,
        };
        // A saturated size may be any larger one.
        let overlap = match overlap {
            u32::MAX => small,
            overlap => small.min(overlap.into()),
        };
        overlap << BITS >= needed * self.share || smaller.all == u32::MAX
    }
}

/// Replaces `ranked` by the features of a sketch, part by part, rare ones first.
pub(super) fn rank(
    vectors: &Vectors<'_>,
    sketch: &[u8],
    rarity: &Rarity,
    ranked: &mut Vec<RankedFeature>,
) {
    ranked.clear();
    for_each_key(vectors, sketch, &mut |part, key, weight| {
        ranked.push(RankedFeature {
            part,
            rarity: rarity.of(key),
            key,
            weight,
        });
    });
    ranked.sort_unstable();
}

/// Calls `visit` with the part, the key and the weight of each feature.
pub(super) fn for_each_key(
    vectors: &Vectors<'_>,
    sketch: &[u8],
    visit: &mut dyn FnMut(u32, u64, u32),
) {
    vectors.features(sketch, &mut |feature| {
        debug_assert!(feature.weight <= u32::MAX.into());
        let weight = u32::try_from(feature.weight).unwrap_or(u32::MAX);
        if weight > 0 {
            let key = feature.name ^ u64::from(feature.part) << (u64::BITS - 8);
            visit(feature.part, key, weight);
        }
    });
}

/// The features of each part.
pub(super) fn parts(ranked: &[RankedFeature]) -> impl Iterator<Item = (u32, &[RankedFeature])> {
    let parts = ranked.chunk_by(|a, b| a.part == b.part);
    parts.map(|part| (part[0].part, part))
}
