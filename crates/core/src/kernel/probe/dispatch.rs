//! The kernel of a level.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
use super::table::KeyTable;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::level::kernel_of;

impl KeyTable {
    /// An empty table of `lines` lines with the kernel of `level`, or the scalar one if this
    /// processor lacks `level`. Every table drops [`LONG`](crate::kernel::words::LONG); if
    /// `dropping`, it can drop more keys.
    ///
    /// # Panics
    /// If `lines` is zero or gives more than [`MAX_SLOTS`](super::MAX_SLOTS) slots.
    pub fn new(lines: usize, dropping: bool, level: Level) -> KeyTable {
        KeyTable::with_kernel(
            lines,
            dropping,
            kernel_of!(level, probe(table, keys, found)),
        )
    }
}
