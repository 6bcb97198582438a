//! Prefetching.

/// Prefetches the start of `slice` into the cache; has no other effect.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    prefetch_place(slice.as_ptr().cast());
}

/// Prefetches the bytes at `place`, any address, into the cache; has no other effect.
#[inline]
pub(in crate::kernel) fn prefetch_place(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
