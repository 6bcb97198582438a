//! Sums of rows of signs (+1 and -1): the weighted sum behind a SimHash.
//!
//! Each slot of a [`KeyTable`](super::probe::KeyTable) has a row of signs or none. Rows are stored
//! as bits, so that those of ten thousand features fit in the cache. The SIMD kernels count the
//! ones in each column and the number of rows: those of x86-64 in bytes that hold 255 additions,
//! that of NEON with the adders of [`columns`](super::columns). With `n` rows the
//! sum of signs is `2 * ones - n`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod rows;
mod scalar;

pub use rows::{MAX_ADDITIONS, MAX_COLUMNS, SignRows, Sums};
