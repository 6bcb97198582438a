//! AVX2: counts bits word by word with POPCNT.

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn distances(
    bitmap: &[u64],
    bitmaps: &[u64],
    numbers: &[u64],
    distances: &mut [u32],
) {
    super::scalar::distances(bitmap, bitmaps, numbers, distances);
}
