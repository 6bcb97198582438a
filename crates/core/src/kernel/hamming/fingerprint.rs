//! The trait of fingerprint types.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor};

use super::kernels::Kernels;
use crate::kernel::Level;

/// A fingerprint of up to 64 (`u64`), 128 (`u128`) or 256 bits ([`U256`](super::U256)).
///
/// Sealed: the kernels support only these types.
pub trait Fingerprint:
    Copy
    + Debug
    + Default
    + Ord
    + Hash
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + bytemuck::Pod
    + sealed::Sealed
{
    /// The largest width, in bits.
    const BITS: u32;

    /// The low bits of `bits`, as many as the type has; its other bits are zero.
    fn truncate(bits: u128) -> Self;

    /// The lowest 128 bits of the fingerprint, zero-extended.
    fn widen(self) -> u128;

    /// Only the bit at a position below [`BITS`](Self::BITS) set.
    fn bit(position: u32) -> Self;

    /// The fingerprint in words of 64 bits (*limbs*), the lowest first, zero-extended.
    fn limbs(self) -> [u64; 4];

    /// The fingerprint of some limbs, the lowest first; those that the type lacks are ignored.
    fn of_limbs(limbs: [u64; 4]) -> Self;

    /// The number of bits set.
    fn count_ones(self) -> u32;

    /// The kernels of `level`, or of the best level of this processor if it lacks `level`.
    fn kernels(level: Level) -> &'static Kernels<Self>;

    /// The `width` lowest bits set; every bit if `width` is [`BITS`](Self::BITS) or more. A width
    /// of 0 counts as 1.
    fn low_bits(width: u32) -> Self {
        let width = width.clamp(1, Self::BITS);
        (0..width).fold(Self::default(), |bits, position| bits | Self::bit(position))
    }

    /// The Hamming distance.
    #[inline]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
}
