//! Prefetching.

/// Prefetches the start of `slice` into the cache; has no other effect.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = slice.as_ptr().cast::<i8>();
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}
