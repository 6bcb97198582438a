//! The order of the bits of a fingerprint.
//!
//! Every table of a segment has its own order, in which the bits that select a bucket come first.
//! Distances do not change.

use bytemuck::Pod;

use crate::kernel::hamming::Fingerprint;

/// A fingerprint that an index stores.
pub trait Value: Fingerprint {
    /// A fingerprint and the number of its document; orders by fingerprint, then by number.
    type Placed: Pod + Ord;

    /// Combines fingerprint and number.
    fn place(self, number: u32) -> Self::Placed;

    /// Separates them.
    fn take(placed: Self::Placed) -> (Self, u32);

    /// The fingerprint of `width` bits at the beginning of a sketch; missing bytes are zero.
    fn of_sketch(sketch: &[u8], width: u32) -> Self {
        let bytes = width.div_ceil(8).min(16) as usize;
        let all = sketch.iter().take(bytes).zip(0..);
        Self::truncate(all.fold(0, |sum, (byte, place)| {
            sum | u128::from(*byte) << (8 * place)
        }))
    }

    /// The `bits` (at most 24) highest of `width` bits.
    fn prefix(self, width: u32, bits: u32) -> u32;

    /// The fingerprint of `width` bits, the highest `bits` (at most 24) of which are `prefix` and
    /// the others zero.
    fn of_prefix(prefix: u32, width: u32, bits: u32) -> Self;
}

macro_rules! value {
    ($type:ty, $placed:ty, $place:expr, $take:expr) => {
        impl Value for $type {
            type Placed = $placed;

            #[inline]
            fn place(self, number: u32) -> $placed {
                $place(self, number)
            }

            #[inline]
            fn take(placed: $placed) -> (Self, u32) {
                $take(placed)
            }

            #[inline]
            fn prefix(self, width: u32, bits: u32) -> u32 {
                if bits == 0 {
                    0
                } else {
                    (self >> (width - bits)) as u32
                }
            }

            #[inline]
            fn of_prefix(prefix: u32, width: u32, bits: u32) -> Self {
                if bits == 0 {
                    0
                } else {
                    <$type>::from(prefix) << (width - bits)
                }
            }
        }
    };
}

value!(
    u64,
    [u64; 2],
    |value, number: u32| [value, number.into()],
    |[value, number]: [u64; 2]| (value, number as u32)
);
value!(
    u128,
    [u64; 3],
    |value: u128, number: u32| [(value >> 64) as u64, value as u64, number.into()],
    |[high, low, number]: [u64; 3]| (u128::from(high) << 64 | u128::from(low), number as u32)
);

/// A permutation of the lowest bits of fingerprints; other bits are dropped.
#[derive(Clone, Debug)]
pub struct Permutation<F> {
    order: Vec<u8>,
    /// For each byte of a fingerprint, the permuted bits of each of its values.
    tables: Vec<[F; 256]>,
}

impl<F: Value> Permutation<F> {
    /// Bit `order[0]` becomes the highest of `order.len()` bits, the last one the lowest. `None`
    /// unless `order` has each bit below `order.len()` once.
    pub fn new(order: &[u8]) -> Option<Permutation<F>> {
        let width = order.len();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if width == 0 || width > F::BITS as usize || !sorted.iter().copied().eq(0..width as u8) {
            return None;
        }
        let mut tables = vec![[F::default(); 256]; width.div_ceil(8)];
        for (place, bit) in order.iter().map(|bit| usize::from(*bit)).enumerate() {
            let moved = F::truncate(1 << (width - 1 - place));
            for (byte, value) in tables[bit / 8].iter_mut().enumerate() {
                if byte >> (bit % 8) & 1 == 1 {
                    *value = *value | moved;
                }
            }
        }
        Some(Permutation {
            order: order.to_vec(),
            tables,
        })
    }

    /// The permutation from this order to the order of `other`, which has the same width.
    pub fn onto(&self, other: &Permutation<F>) -> Option<Permutation<F>> {
        let places = self.order.iter().rev();
        let place = |bit: &u8| places.clone().position(|own| own == bit);
        let order: Option<Vec<u8>> = other
            .order
            .iter()
            .map(|bit| Some(place(bit)? as u8))
            .collect();
        Permutation::new(&order?)
    }

    /// Permutes a fingerprint.
    #[inline]
    pub fn apply(&self, fingerprint: F) -> F {
        let bytes = bytemuck::bytes_of(&fingerprint);
        let halves = self.tables.iter().zip(bytes);
        halves.fold(F::default(), |moved, (table, byte)| {
            moved | table[usize::from(*byte)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_go_where_the_order_says(
            order in (1usize..=128).prop_flat_map(|width| {
                Just((0..width as u8).collect::<Vec<u8>>()).prop_shuffle()
            }),
            bits in any::<u128>(),
            seed in any::<u64>(),
            named in 0u32..=24,
        ) {
            let width = order.len() as u32;
            let permutation = Permutation::<u128>::new(&order).unwrap();
            let moved = permutation.apply(bits);
            for (place, bit) in order.iter().enumerate() {
                let at = width - 1 - place as u32;
                prop_assert_eq!(moved >> at & 1, bits >> bit & 1);
            }
            prop_assert_eq!(moved & !u128::low_bits(width), 0);
            let mut other = order.clone();
            other.sort_by_key(|bit| (u64::from(*bit) + 1).wrapping_mul(seed | 1));
            let other = Permutation::<u128>::new(&other).unwrap();
            let onto = permutation.onto(&other).unwrap();
            prop_assert_eq!(onto.apply(moved), other.apply(bits));
            let named = named.min(width);
            let prefix = moved.prefix(width, named);
            let high = u128::of_prefix(prefix, width, named);
            let lower = !u128::MAX.checked_shl(width - named).unwrap_or(0);
            prop_assert_eq!(moved ^ high, moved & lower);
            if width <= 64 {
                let narrow = Permutation::<u64>::new(&order).unwrap();
                prop_assert_eq!(u128::from(narrow.apply(bits as u64)), moved);
                let high = u64::of_prefix(prefix, width, named);
                prop_assert_eq!(high, u128::of_prefix(prefix, width, named) as u64);
            }
        }
    }

    #[test]
    fn orders_that_are_no_permutation_are_refused() {
        for order in [&[][..], &[0, 0], &[1, 2], &[0; 200]] {
            assert!(Permutation::<u128>::new(order).is_none());
        }
        let long: Vec<u8> = (0..65).collect();
        assert!(Permutation::<u64>::new(&long).is_none());
    }
}
