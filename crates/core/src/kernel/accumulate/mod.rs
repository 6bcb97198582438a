//! Sums of rows of signs (+1 and -1): the weighted sum behind a SimHash.
//!
//! Each slot of a [`KeyTable`](super::probe::KeyTable) has a row of signs or none. Rows are stored
//! as bits, so that those of ten thousand features fit in the cache. The SIMD kernels count the
//! ones in each column, in bytes that hold 255 additions, and the number of rows. With `n` rows the
//! sum of signs is `2 * ones - n`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod rows;
mod scalar;

pub use rows::{MAX_ADDITIONS, MAX_COLUMNS, SignRows, Sums};
