//! In which order do the bits of a fingerprint stand?
//!
//! Stored fingerprints have their bits reordered, so that the bits of each block are neighbours
//! and the first ones of a block say most. One reordering then serves every table of a segment:
//! table i holds the reordered fingerprints *rotated* until block i leads. Distances stay as
//! they are.

use bytemuck::Pod;

use crate::kernel::hamming::Fingerprint;

/// A fingerprint that can be stored: its bits can be moved as a whole.
pub trait Value: Fingerprint {
    /// A fingerprint and the number of its document; orders by fingerprint, then by number.
    type Placed: Pod + Ord;

    /// Joins the two.
    fn place(self, number: u32) -> Self::Placed;

    /// Takes them apart.
    fn take(placed: Self::Placed) -> (Self, u32);

    /// The fingerprint whose lowest bytes these are, the missing ones zero.
    fn of_bytes(bytes: &[u8]) -> Self {
        let all = bytes.iter().take(16).zip(0..);
        Self::truncate(all.fold(0, |sum, (byte, place)| {
            sum | u128::from(*byte) << (8 * place)
        }))
    }

    /// Moves the lowest `width` bits, `by` (below `width`) places towards the highest, those at
    /// the top to the bottom; the others are zero before and after.
    fn rotate(self, by: u32, width: u32) -> Self;

    /// The `bits` (at most 24) highest of `width` bits.
    fn prefix(self, width: u32, bits: u32) -> u32;
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
            fn rotate(self, by: u32, width: u32) -> Self {
                if width == <$type>::BITS {
                    self.rotate_left(by)
                } else if by == 0 {
                    self
                } else {
                    ((self << by) | (self >> (width - by))) & <$type>::low_bits(width)
                }
            }

            #[inline]
            fn prefix(self, width: u32, bits: u32) -> u32 {
                if bits == 0 {
                    0
                } else {
                    (self >> (width - bits)) as u32
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

/// A reordering of the lowest bits of fingerprints; the others are dropped.
#[derive(Clone, Debug)]
pub struct Permutation<F> {
    order: Vec<u8>,
    /// For each byte of a fingerprint, where the bits of each of its values go.
    tables: Vec<[F; 256]>,
}

impl<F: Value> Permutation<F> {
    /// Bit `order[0]` becomes the highest of `order.len()` bits, the last one the lowest; `None`
    /// unless each bit below `order.len()` stands in `order` once.
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

    /// The source of every bit, the highest first.
    pub fn order(&self) -> &[u8] {
        &self.order
    }

    /// How many bits are reordered.
    pub fn width(&self) -> u32 {
        self.order.len() as u32
    }

    /// The reordered fingerprint.
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
            by in 0u32..128,
        ) {
            let width = order.len() as u32;
            let permutation = Permutation::<u128>::new(&order).unwrap();
            let moved = permutation.apply(bits);
            for (place, bit) in order.iter().enumerate() {
                let at = width - 1 - place as u32;
                prop_assert_eq!(moved >> at & 1, bits >> bit & 1);
            }
            prop_assert_eq!(moved & !u128::low_bits(width), 0);
            let by = by % width;
            let rotated = moved.rotate(by, width);
            for bit in 0..width {
                prop_assert_eq!(rotated >> ((bit + by) % width) & 1, moved >> bit & 1);
            }
            if width <= 64 {
                let narrow = Permutation::<u64>::new(&order).unwrap();
                prop_assert_eq!(u128::from(narrow.apply(bits as u64)), moved);
                prop_assert_eq!(u128::from((moved as u64).rotate(by, width)), rotated);
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
