//! Instruction-set levels, and their detection on this processor.

#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected;
use std::fmt;
use std::str::FromStr;

/// A set of instruction-set extensions that kernels are written for; those of one architecture in
/// ascending order of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Plain Rust: every processor, and the oracle of the other levels.
    Scalar,
    /// NEON: every 64-bit ARM processor, little-endian.
    Neon,
    /// AVX2 with BMI1, BMI2, LZCNT and POPCNT: most x86-64 processors since 2013 (Intel) and 2015
    /// (AMD).
    Avx2,
    /// AVX-512 F, BW, DQ, VL, VBMI, VBMI2, BITALG and VPOPCNTDQ: Intel Ice Lake and later server
    /// processors, AMD Zen 4 and later.
    Avx512,
}

/// The function `$kernel` of the module of a level, or of `scalar` if this processor lacks it.
macro_rules! kernel_of {
    ($level:expr, $kernel:ident($($argument:ident),+)) => {
        match $level {
            #[cfg(target_arch = "aarch64")]
            level @ $crate::kernel::Level::Neon if level.is_available() => {
                // SAFETY: the guard checked that this processor has NEON.
                |$($argument),+| unsafe { neon::$kernel($($argument),+) }
            }
            #[cfg(target_arch = "x86_64")]
            level @ $crate::kernel::Level::Avx2 if level.is_available() => {
                // SAFETY: the guard checked that this processor has AVX2.
                |$($argument),+| unsafe { avx2::$kernel($($argument),+) }
            }
            #[cfg(target_arch = "x86_64")]
            level @ $crate::kernel::Level::Avx512 if level.is_available() => {
                // SAFETY: the guard checked that this processor has AVX-512.
                |$($argument),+| unsafe { avx512::$kernel($($argument),+) }
            }
            _ => scalar::$kernel,
        }
    };
}
pub(super) use kernel_of;

impl Level {
    /// All levels, slowest first, whether this processor has them or not.
    pub const ALL: [Level; 4] = [Level::Scalar, Level::Neon, Level::Avx2, Level::Avx512];

    /// Whether this processor can run the level.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Level::Scalar => true,
            Level::Neon => false,
            Level::Avx2 => has_avx2(),
            Level::Avx512 => {
                has_avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("avx512bitalg")
                    && is_x86_feature_detected!("avx512vpopcntdq")
            }
        };
        #[cfg(target_arch = "aarch64")]
        return match self {
            Level::Scalar => true,
            Level::Neon => cfg!(target_endian = "little") && is_aarch64_feature_detected!("neon"),
            Level::Avx2 | Level::Avx512 => false,
        };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return self == Level::Scalar;
    }

    /// The fastest level of this processor.
    pub fn best() -> Level {
        let mut levels = Level::ALL.into_iter().rev();
        levels
            .find(|level| level.is_available())
            .unwrap_or(Level::Scalar)
    }

    /// The levels that this processor can run, slowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Level::Scalar => "scalar",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        })
    }
}

impl FromStr for Level {
    type Err = crate::Error;

    /// Parses the name that [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for any other name.
    fn from_str(name: &str) -> crate::Result<Level> {
        let mut levels = Level::ALL.into_iter();
        levels
            .find(|level| level.to_string() == name)
            .ok_or_else(|| {
                let message = format!("{name:?}: expected scalar, neon, avx2 or avx512");
                crate::Error::new(crate::ErrorKind::Parameter, message)
            })
    }
}
