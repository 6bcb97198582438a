//! Fingerprints of 256 bits for the loops of [`lanes`](super::lanes): one at a time.
//!
//! Plain Rust. An entry point that has population counts of vectors lets the compiler use them.

use super::fingerprint::Fingerprint;
use super::kernels::Hit;
use super::lanes::Lanes;
use super::wide::U256;

#[derive(Clone, Copy)]
pub(super) struct Single(U256);

impl Lanes for Single {
    type Fingerprint = U256;
    type Distances = u32;
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(fingerprint: U256) -> Self {
        Single(fingerprint)
    }

    #[inline(always)]
    unsafe fn load(from: *const U256) -> Self {
        // SAFETY: the caller guarantees one readable fingerprint at `from`.
        Single(unsafe { from.read_unaligned() })
    }

    #[inline(always)]
    unsafe fn load_first(_: *const U256, _: usize) -> Self {
        // Fewer than one: nothing is read.
        Single(U256::default())
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        Single(self.0 & mask.0)
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> u32 {
        (self.0 ^ query.0).count_ones()
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> u32 {
        distance
    }

    #[inline(always)]
    unsafe fn smaller(a: u32, b: u32) -> u32 {
        a.min(b)
    }

    #[inline(always)]
    unsafe fn within(distances: u32, limit: u32) -> u32 {
        u32::from(distances <= limit)
    }

    #[inline(always)]
    unsafe fn store(distance: u32, _: u32, position: u32, out: *mut Hit) {
        // SAFETY: the caller has space for one hit at `out`.
        unsafe { out.write(Hit { distance, position }) }
    }
}
