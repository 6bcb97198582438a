//! Rounds of fast similarity sketching, which find the minima of a set under many orders.
//!
//! In a round, each value is hashed to a bin and a number there. A bin keeps the smallest number of
//! the first round in which it got any. Most throws hit bins that are full since an earlier round:
//! sets of few values need many rounds to fill the last bins.
//!
//! There is no kernel for AVX2 and NEON: they do not multiply numbers of 64 bits, which plain code
//! does in two instructions.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod round;
mod scalar;

pub use dispatch::Throws;
pub use round::{BINS, EMPTY, hash, key};
