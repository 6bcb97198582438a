//! AVX2: bits are counted word by word, in one instruction each.

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
