//! NEON: a vector of eight fingerprints, whose distances are bytes.

use std::arch::aarch64::*;

use super::kernels::{Hit, Kernels, QueryHit, TILE, Threshold};
use super::lanes::{self, Lanes};
use super::scalar;
use super::single::Single;
use super::wide;

lanes::table!(U64, u64, NeonU64, scalar::unpack, scalar::buckets, "neon");
lanes::table!(
    U128,
    u128,
    NeonU128,
    scalar::unpack,
    scalar::buckets,
    "neon"
);
lanes::table!(
    U256,
    wide::U256,
    Single,
    scalar::unpack,
    scalar::buckets,
    "neon"
);

/// Two fingerprints in each register.
#[derive(Clone, Copy)]
struct NeonU64([uint8x16_t; 4]);

/// A fingerprint in each register.
#[derive(Clone, Copy)]
struct NeonU128([uint8x16_t; 8]);

impl Lanes for NeonU64 {
    type Fingerprint = u64;
    type Distances = uint8x8_t;
    const COUNT: usize = 8;

    #[inline(always)]
    unsafe fn splat(fingerprint: u64) -> Self {
        // SAFETY: the caller has NEON; the intrinsics access no memory.
        NeonU64([unsafe { vreinterpretq_u8_u64(vdupq_n_u64(fingerprint)) }; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller has NEON and guarantees `COUNT` readable fingerprints at `from`, 64
        // bytes; the loads need no alignment.
        NeonU64(std::array::from_fn(|at| unsafe {
            vld1q_u8(from.add(2 * at).cast())
        }))
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u64, count: usize) -> Self {
        let mut few = [0; Self::COUNT];
        // SAFETY: the caller has NEON and guarantees `count` readable fingerprints at `from`, fewer
        // than `COUNT`. They are copied, and `few` has `COUNT`.
        unsafe {
            from.copy_to_nonoverlapping(few.as_mut_ptr(), count);
            Self::load(few.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has NEON; the intrinsic accesses no memory.
        NeonU64(std::array::from_fn(|at| unsafe {
            vandq_u8(self.0[at], mask.0[at])
        }))
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> uint8x8_t {
        // SAFETY: the caller has NEON; the intrinsics access no memory.
        unsafe {
            let ones = |at: usize| vcntq_u8(veorq_u8(self.0[at], query.0[at]));
            byte_sums(vpaddq_u8(ones(0), ones(1)), vpaddq_u8(ones(2), ones(3)))
        }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> uint8x8_t {
        // No distance exceeds 128.
        let distance = distance.min(128) as u8;
        // SAFETY: the caller has NEON; the intrinsic accesses no memory.
        unsafe { vdup_n_u8(distance) }
    }

    #[inline(always)]
    unsafe fn smaller(a: uint8x8_t, b: uint8x8_t) -> uint8x8_t {
        // SAFETY: the caller has NEON; the intrinsic accesses no memory.
        unsafe { vmin_u8(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: uint8x8_t, limit: uint8x8_t) -> u32 {
        // SAFETY: the caller has NEON; the intrinsics access no memory.
        unsafe {
            let bit_of_lane = vcreate_u8(0x8040_2010_0804_0201);
            vaddv_u8(vand_u8(vcle_u8(distances, limit), bit_of_lane)).into()
        }
    }

    #[inline(always)]
    unsafe fn store(distances: uint8x8_t, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: the caller has NEON; the intrinsics access no memory.
        let distances = unsafe { vget_lane_u64::<0>(vreinterpret_u64_u8(distances)) };
        let (mut left, mut out) = (which, out);
        while left != 0 {
            let lane = left.trailing_zeros();
            let hit = Hit {
                distance: u32::from((distances >> (8 * lane)) as u8),
                position: first.wrapping_add(lane),
            };
            // SAFETY: the caller has space for `COUNT` hits at `out`, and `which` has at most
            // `COUNT` bits.
            unsafe {
                out.write(hit);
                out = out.add(1);
            }
            left &= left - 1;
        }
    }
}

impl Lanes for NeonU128 {
    type Fingerprint = u128;
    type Distances = uint8x8_t;
    const COUNT: usize = 8;

    #[inline(always)]
    unsafe fn splat(fingerprint: u128) -> Self {
        // SAFETY: the caller has NEON; sixteen bytes are read from an array of sixteen.
        NeonU128([unsafe { vld1q_u8(fingerprint.to_ne_bytes().as_ptr()) }; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const u128) -> Self {
        // SAFETY: the caller has NEON and guarantees `COUNT` readable fingerprints at `from`, 128
        // bytes; the loads need no alignment.
        NeonU128(std::array::from_fn(|at| unsafe {
            vld1q_u8(from.add(at).cast())
        }))
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u128, count: usize) -> Self {
        let mut few = [0; Self::COUNT];
        // SAFETY: the caller has NEON and guarantees `count` readable fingerprints at `from`, fewer
        // than `COUNT`. They are copied, and `few` has `COUNT`.
        unsafe {
            from.copy_to_nonoverlapping(few.as_mut_ptr(), count);
            Self::load(few.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has NEON; the intrinsic accesses no memory.
        NeonU128(std::array::from_fn(|at| unsafe {
            vandq_u8(self.0[at], mask.0[at])
        }))
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> uint8x8_t {
        // SAFETY: the caller has NEON; the intrinsics access no memory.
        unsafe {
            let ones = |at: usize| vcntq_u8(veorq_u8(self.0[at], query.0[at]));
            let pair = |at: usize| vpaddq_u8(ones(at), ones(at + 1));
            byte_sums(vpaddq_u8(pair(0), pair(2)), vpaddq_u8(pair(4), pair(6)))
        }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> uint8x8_t {
        // SAFETY: `NeonU64` has the same contract and the same distances.
        unsafe { NeonU64::splat_distance(distance) }
    }

    #[inline(always)]
    unsafe fn smaller(a: uint8x8_t, b: uint8x8_t) -> uint8x8_t {
        // SAFETY: `NeonU64` has the same contract and the same distances.
        unsafe { NeonU64::smaller(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: uint8x8_t, limit: uint8x8_t) -> u32 {
        // SAFETY: `NeonU64` has the same contract and the same distances.
        unsafe { NeonU64::within(distances, limit) }
    }

    #[inline(always)]
    unsafe fn store(distances: uint8x8_t, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: `NeonU64` has the same contract and the same distances.
        unsafe { NeonU64::store(distances, which, first, out) }
    }
}

/// The sums of the four bytes of each of eight fingerprints, at most 128.
///
/// # Safety
/// The processor must have NEON.
#[inline(always)]
unsafe fn byte_sums(low: uint8x16_t, high: uint8x16_t) -> uint8x8_t {
    // SAFETY: the caller has NEON; the intrinsics access no memory.
    unsafe {
        let twos = vpaddq_u8(low, high);
        vget_low_u8(vpaddq_u8(twos, twos))
    }
}
