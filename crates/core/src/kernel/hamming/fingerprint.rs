//! The trait of fingerprint types.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor};

use super::kernels::Kernels;
use crate::kernel::Level;

/// A fingerprint of up to 64 (`u64`) or 128 (`u128`) bits.
///
/// Sealed: the kernels support only these two types.
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

    /// The low bits of `bits`, as many as the type has.
    fn truncate(bits: u128) -> Self;

    /// The fingerprint, zero-extended to 128 bits.
    fn widen(self) -> u128;

    /// The number of bits set.
    fn count_ones(self) -> u32;

    /// The kernels of `level`, or of the best level of this processor if it lacks `level`.
    fn kernels(level: Level) -> &'static Kernels<Self>;

    /// The `width` lowest bits set; every bit if `width` is [`BITS`](Self::BITS) or more. A width
    /// of 0 counts as 1.
    fn low_bits(width: u32) -> Self {
        Self::truncate(u128::MAX >> (128 - width.clamp(1, 128)))
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
