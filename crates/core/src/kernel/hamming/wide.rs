//! Fingerprints of 256 bits.

use std::ops::{BitAnd, BitOr, BitXor};

use bytemuck::{Pod, Zeroable};

/// A fingerprint of up to 256 bits: words of 64 bits, the lowest first.
///
/// `Ord` compares the lowest words first; any total order serves to group equal fingerprints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct U256(pub [u64; 4]);

macro_rules! by_word {
    ($trait:ident, $method:ident) => {
        impl $trait for U256 {
            type Output = U256;

            #[inline]
            fn $method(self, other: U256) -> U256 {
                let word = |place: usize| self.0[place].$method(other.0[place]);
                U256([word(0), word(1), word(2), word(3)])
            }
        }
    };
}

by_word!(BitAnd, bitand);
by_word!(BitOr, bitor);
by_word!(BitXor, bitxor);
