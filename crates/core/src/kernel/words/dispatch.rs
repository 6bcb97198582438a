//! The kernel of a level.

#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
use super::window::Words;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::level::kernel_of;

impl Words {
    /// An empty window with the kernel of `level`, or the scalar one if this processor lacks
    /// `level`.
    pub fn new(level: Level) -> Box<Words> {
        Words::with_kernel(kernel_of!(level, find(words, text, stop)))
    }
}
