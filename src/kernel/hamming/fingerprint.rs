use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor};

use super::{Kernels, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;

/// A fingerprint of up to 64 (`u64`) or 128 (`u128`) bits; bit `j` is worth `1 << j`.
///
/// Sealed: the kernels are written for these two types.
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

    /// The lowest bits of `bits`, as many as fit.
    fn truncate(bits: u128) -> Self;

    /// The bits, the missing ones zero.
    fn widen(self) -> u128;

    /// How many bits are one.
    fn count_ones(self) -> u32;

    /// The loops of `level`, or of the best level this processor has if it lacks that one.
    fn kernels(level: Level) -> &'static Kernels<Self>;

    /// The `width` lowest bits set; every bit if `width` is [`BITS`](Self::BITS) or more.
    fn low_bits(width: u32) -> Self {
        Self::truncate(u128::MAX >> (128 - width.clamp(1, 128)))
    }

    /// How many bits differ.
    #[inline]
    fn distance(self, other: Self) -> u32 {
        (self ^ other).count_ones()
    }
}

macro_rules! fingerprint {
    ($type:ty, $table:ident) => {
        impl sealed::Sealed for $type {}

        impl Fingerprint for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn truncate(bits: u128) -> Self {
                bits as $type
            }

            #[inline]
            fn widen(self) -> u128 {
                self.into()
            }

            #[inline]
            fn count_ones(self) -> u32 {
                <$type>::count_ones(self)
            }

            fn kernels(level: Level) -> &'static Kernels<Self> {
                match level.min(Level::best()) {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => &avx512::$table,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => &avx2::$table,
                    _ => &scalar::$table,
                }
            }
        }
    };
}

fingerprint!(u64, U64);
fingerprint!(u128, U128);

mod sealed {
    pub trait Sealed {}
}
