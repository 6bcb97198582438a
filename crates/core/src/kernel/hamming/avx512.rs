//! AVX-512: a vector of eight fingerprints.

use std::arch::x86_64::*;

use super::avx2;
use super::kernels::{Hit, Kernels, QueryHit, TILE, Threshold};
use super::lanes::{self, Lanes};
use super::scalar;
use super::single::Single;
use super::wide;

lanes::table!(
    U64,
    u64,
    Eight64,
    unpack,
    avx2::buckets,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
);
lanes::table!(
    U128,
    u128,
    Eight128,
    scalar::unpack,
    avx2::buckets,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
);
lanes::table!(
    U256,
    wide::U256,
    Single,
    scalar::unpack,
    avx2::buckets,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
);

fn unpack(stored: &[u8], value_bytes: usize, common: u64, out: &mut Vec<u64>) {
    // SAFETY: `dispatch` returns this table only if the processor has the level.
    unsafe { unpack_bytes(stored, value_bytes, common, out) }
}

/// Expands eight fingerprints at a time from at most 64 bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn unpack_bytes(stored: &[u8], value_bytes: usize, common: u64, out: &mut Vec<u64>) {
    assert!(
        (1..=8).contains(&value_bytes),
        "a fingerprint of 64 bits has 1 to 8 bytes"
    );
    let (mut sources, mut kept) = ([0u8; 64], 0u64);
    for (at, source) in sources.iter_mut().enumerate() {
        if at % 8 < value_bytes {
            *source = (at / 8 * value_bytes + at % 8) as u8;
            kept |= 1 << at;
        }
    }
    let count = stored.len() / value_bytes;
    let stored = &stored[..count * value_bytes];
    out.reserve(count + 8);
    // SAFETY: the masked load reads only bytes of `stored`. Every store of eight fingerprints is
    // within the reserved `count + 8`. The new length includes only the first `count`, all of them
    // written.
    unsafe {
        let sources = _mm512_loadu_si512(sources.as_ptr().cast());
        let common = _mm512_set1_epi64(common as i64);
        let end = out.as_mut_ptr().add(out.len());
        for (eight, bytes) in stored.chunks(8 * value_bytes).enumerate() {
            let first = u64::MAX >> (64 - bytes.len());
            let bytes = _mm512_maskz_loadu_epi8(first, bytes.as_ptr().cast());
            let values = _mm512_maskz_permutexvar_epi8(kept, sources, bytes);
            _mm512_storeu_si512(end.add(8 * eight).cast(), _mm512_or_si512(values, common));
        }
        out.set_len(out.len() + count);
    }
}

#[derive(Clone, Copy)]
struct Eight64(__m512i);

impl Lanes for Eight64 {
    type Fingerprint = u64;
    type Distances = __m512i;
    const COUNT: usize = 8;

    #[inline(always)]
    unsafe fn splat(fingerprint: u64) -> Self {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        Eight64(unsafe { _mm512_set1_epi64(fingerprint as i64) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller has AVX-512 and guarantees `COUNT` readable fingerprints at `from`;
        // the loads need no alignment.
        Eight64(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u64, count: usize) -> Self {
        // SAFETY: the caller has AVX-512 and guarantees `count` readable fingerprints at `from`;
        // masked lanes are not read.
        Eight64(unsafe { _mm512_maskz_loadu_epi64((1u8 << count) - 1, from.cast()) })
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        Eight64(unsafe { _mm512_and_si512(self.0, mask.0) })
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> __m512i {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe { popcount(self.0, query.0) }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> __m512i {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe { _mm512_set1_epi64(distance.into()) }
    }

    #[inline(always)]
    unsafe fn smaller(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe { _mm512_min_epu64(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: __m512i, limit: __m512i) -> u32 {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe { _mm512_cmple_epu64_mask(distances, limit).into() }
    }

    #[inline(always)]
    unsafe fn store(distances: __m512i, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: the caller has AVX-512 and space for `COUNT` hits at `out`. A hit is its
        // distance, then its position: 64 bits. Nothing needs alignment.
        unsafe {
            let lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let positions =
                _mm512_slli_epi64::<32>(_mm512_add_epi64(lane, _mm512_set1_epi64(first.into())));
            let hits = _mm512_or_si512(positions, distances);
            // Compresses in the register: compressing to memory is microcoded on Zen 4.
            _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi64(which as u8, hits));
        }
    }
}

/// Fingerprints 0 to 3, then 4 to 7.
#[derive(Clone, Copy)]
struct Eight128(__m512i, __m512i);

impl Lanes for Eight128 {
    type Fingerprint = u128;
    type Distances = __m512i;
    const COUNT: usize = 8;

    #[inline(always)]
    unsafe fn splat(fingerprint: u128) -> Self {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe {
            let one = _mm_set_epi64x((fingerprint >> 64) as i64, fingerprint as i64);
            let four = _mm512_broadcast_i64x2(one);
            Eight128(four, four)
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const u128) -> Self {
        // SAFETY: the caller has AVX-512 and guarantees `COUNT` readable fingerprints at `from`;
        // the loads need no alignment.
        unsafe {
            Eight128(
                _mm512_loadu_si512(from.cast()),
                _mm512_loadu_si512(from.add(4).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u128, count: usize) -> Self {
        let halves = (1u16 << (2 * count)) - 1;
        // SAFETY: the caller has AVX-512 and guarantees `count` readable fingerprints at `from`;
        // masked lanes are not read.
        unsafe {
            Eight128(
                _mm512_maskz_loadu_epi64(halves as u8, from.cast()),
                _mm512_maskz_loadu_epi64((halves >> 8) as u8, from.wrapping_add(4).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe {
            Eight128(
                _mm512_and_si512(self.0, mask.0),
                _mm512_and_si512(self.1, mask.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> __m512i {
        // SAFETY: the caller has AVX-512; the intrinsics access no memory.
        unsafe {
            let a = popcount(self.0, query.0);
            let b = popcount(self.1, query.1);
            let low = _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
            let high =
                _mm512_permutex2var_epi64(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b);
            _mm512_add_epi64(low, high)
        }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> __m512i {
        // SAFETY: `Eight64` has the same contract and the same distances.
        unsafe { Eight64::splat_distance(distance) }
    }

    #[inline(always)]
    unsafe fn smaller(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `Eight64` has the same contract and the same distances.
        unsafe { Eight64::smaller(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: __m512i, limit: __m512i) -> u32 {
        // SAFETY: `Eight64` has the same contract and the same distances.
        unsafe { Eight64::within(distances, limit) }
    }

    #[inline(always)]
    unsafe fn store(distances: __m512i, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: `Eight64` has the same contract and the same distances.
        unsafe { Eight64::store(distances, which, first, out) }
    }
}

#[inline(always)]
/// The population counts of eight differences of 64 bits.
///
/// # Safety
/// The processor must have AVX-512 VPOPCNTDQ.
unsafe fn popcount(fingerprints: __m512i, query: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512; the intrinsics access no memory.
    unsafe { _mm512_popcnt_epi64(_mm512_xor_si512(fingerprints, query)) }
}
