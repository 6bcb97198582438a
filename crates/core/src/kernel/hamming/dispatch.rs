//! The kernels of each fingerprint type, by level.

use super::fingerprint::{Fingerprint, sealed};
use super::kernels::Kernels;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
use super::wide::U256;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;

/// The kernels of a level by the name of their table.
macro_rules! kernels {
    ($level:expr, $table:ident) => {
        match if $level.is_available() {
            $level
        } else {
            Level::best()
        } {
            #[cfg(target_arch = "aarch64")]
            Level::Neon => &neon::$table,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => &avx512::$table,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => &avx2::$table,
            _ => &scalar::$table,
        }
    };
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
            fn bit(position: u32) -> Self {
                1 << position
            }

            #[inline]
            fn limbs(self) -> [u64; 4] {
                let bits = self.widen();
                [bits as u64, (bits >> 64) as u64, 0, 0]
            }

            #[inline]
            fn of_limbs([low, high, ..]: [u64; 4]) -> Self {
                Self::truncate(u128::from(high) << 64 | u128::from(low))
            }

            #[inline]
            fn count_ones(self) -> u32 {
                <$type>::count_ones(self)
            }

            fn kernels(level: Level) -> &'static Kernels<Self> {
                kernels!(level, $table)
            }
        }
    };
}

fingerprint!(u64, U64);
fingerprint!(u128, U128);

impl sealed::Sealed for U256 {}

impl Fingerprint for U256 {
    const BITS: u32 = 256;

    #[inline]
    fn truncate(bits: u128) -> Self {
        U256([bits as u64, (bits >> 64) as u64, 0, 0])
    }

    #[inline]
    fn widen(self) -> u128 {
        u128::from(self.0[1]) << 64 | u128::from(self.0[0])
    }

    #[inline]
    fn bit(position: u32) -> Self {
        let mut words = [0; 4];
        words[position as usize / 64] = 1 << (position % 64);
        U256(words)
    }

    #[inline]
    fn limbs(self) -> [u64; 4] {
        self.0
    }

    #[inline]
    fn of_limbs(limbs: [u64; 4]) -> Self {
        U256(limbs)
    }

    #[inline]
    fn count_ones(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn kernels(level: Level) -> &'static Kernels<Self> {
        kernels!(level, U256)
    }
}
