//! The scalar loop compiled for AVX-512 with VPOPCNTDQ, which can count the bits of eight 64-bit
//! words at a time.

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq,popcnt")]
pub(super) unsafe fn distances(
    bitmap: &[u64],
    bitmaps: &[u64],
    numbers: &[u64],
    distances: &mut [u32],
) {
    super::scalar::distances(bitmap, bitmaps, numbers, distances);
}
