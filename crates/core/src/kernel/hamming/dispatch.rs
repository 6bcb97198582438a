//! The fingerprint types, and the choice of their kernels by level.

use super::fingerprint::{Fingerprint, sealed};
use super::kernels::Kernels;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;

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
