//! The components of vectors, and sums of their products.

use std::cmp::Ordering;

/// The component of a vector at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorComponent {
    pub(super) rank: u16,
    pub(super) weight: u64,
}

/// Bits of a weight in a sketch.
const WEIGHT_BITS: u32 = 48;
/// The maximum weight, so that a sum of squares times a ratio of 32 bits fits into 128 bits.
pub(super) const MAX_WEIGHT: u64 = 1 << 40;

impl VectorComponent {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        let packed = u64::from(self.rank) << WEIGHT_BITS | self.weight.min(MAX_WEIGHT);
        packed.to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 8]) -> VectorComponent {
        let packed = u64::from_le_bytes(bytes);
        VectorComponent {
            rank: (packed >> WEIGHT_BITS) as u16,
            weight: (packed & ((1 << WEIGHT_BITS) - 1)).min(MAX_WEIGHT),
        }
    }

    pub(super) fn square(self) -> u128 {
        u128::from(self.weight) * u128::from(self.weight)
    }
}

pub(super) fn components(sketch: &[u8]) -> impl Iterator<Item = VectorComponent> + Clone {
    let (components, rest) = sketch.as_chunks();
    assert!(rest.is_empty(), "whole components");
    components.iter().copied().map(VectorComponent::from_bytes)
}

/// The sum of the products of components at the same rank.
pub(super) fn product(a: &[u8], b: &[u8]) -> u128 {
    let (mut a, mut b) = (components(a), components(b));
    let (mut x, mut y) = (a.next(), b.next());
    let mut sum = 0;
    while let (Some(of_a), Some(of_b)) = (x, y) {
        let order = of_a.rank.cmp(&of_b.rank);
        if order == Ordering::Equal {
            sum += u128::from(of_a.weight) * u128::from(of_b.weight);
        }
        if order != Ordering::Greater {
            x = a.next();
        }
        if order != Ordering::Less {
            y = b.next();
        }
    }
    sum
}

pub(super) fn square(sketch: &[u8]) -> u128 {
    components(sketch).map(VectorComponent::square).sum()
}
