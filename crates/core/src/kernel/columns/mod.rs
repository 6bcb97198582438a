//! The positional population count: how many words have bit j set, for every j.
//!
//! It is the sum behind a SimHash whose features have equal weights. Words have 64 or 128 bits. A
//! tree of carry-save adders reduces sixteen vectors to one, so that only one vector in sixteen is
//! expanded to a counter per bit. Source: Klarqvist, Muła and Lemire, "Efficient Computation of
//! Positional Population Counts Using SIMD Instructions", 2019.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod counts;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use counts::{ColumnCounts, MAX_COLUMNS};
pub use dispatch::{Columns, MAX_WORDS};
