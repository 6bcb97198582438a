//! The kernel of a level.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::rows::SignRows;
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::level::kernel_of;

impl SignRows {
    /// Creates rows of `columns` signs: a set bit j means +1 in column j, a clear one -1.
    ///
    /// # Panics
    /// If `columns` exceeds [`MAX_COLUMNS`](super::MAX_COLUMNS) or there are 2^15 rows or more.
    pub fn new(columns: usize, rows: &[u128], level: Level) -> SignRows {
        SignRows::with_kernel(
            columns,
            rows,
            kernel_of!(level, accumulate(rows, slots, sums)),
        )
    }
}
