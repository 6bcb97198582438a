//! AVX2: a vector of four fingerprints.

use std::arch::x86_64::*;

use super::fingerprint::Fingerprint;
use super::kernels::{Hit, Kernels, Key, QueryHit, TILE, Threshold};
use super::lanes::{self, Lanes};
use super::scalar;
use super::single::Single;
use super::wide;

lanes::table!(
    U64,
    u64,
    Four64,
    scalar::unpack,
    buckets,
    "avx2,bmi1,bmi2,popcnt"
);
lanes::table!(
    U128,
    u128,
    Four128,
    scalar::unpack,
    buckets,
    "avx2,bmi1,bmi2,popcnt"
);
lanes::table!(
    U256,
    wide::U256,
    Single,
    scalar::unpack,
    buckets,
    "avx2,bmi1,bmi2,popcnt"
);

/// [`Kernels::buckets`] with PEXT.
pub(super) fn buckets<F: Fingerprint>(of: &[F], key: Key<F>, out: &mut [u32]) {
    #[target_feature(enable = "bmi2,popcnt")]
    fn enabled<F: Fingerprint>(of: &[F], key: Key<F>, out: &mut [u32]) {
        key.buckets(of, out, |value, mask| _pext_u64(value, mask));
    }
    // SAFETY: the tables are only handed out where the level, which includes BMI2 and POPCNT, is
    // available.
    unsafe { enabled(of, key, out) }
}

#[derive(Clone, Copy)]
struct Four64(__m256i);

impl Lanes for Four64 {
    type Fingerprint = u64;
    type Distances = __m256i;
    const COUNT: usize = 4;

    #[inline(always)]
    unsafe fn splat(fingerprint: u64) -> Self {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        Four64(unsafe { _mm256_set1_epi64x(fingerprint as i64) })
    }

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller has AVX2 and guarantees `COUNT` readable fingerprints at `from`; the
        // loads need no alignment.
        Four64(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u64, count: usize) -> Self {
        // SAFETY: the caller has AVX2 and guarantees `count` readable fingerprints at `from`;
        // masked lanes are not read.
        Four64(unsafe { _mm256_maskload_epi64(from.cast(), first_lanes(count)) })
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        Four64(unsafe { _mm256_and_si256(self.0, mask.0) })
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> __m256i {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe { popcount(self.0, query.0) }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> __m256i {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe { _mm256_set1_epi64x(distance.into()) }
    }

    #[inline(always)]
    unsafe fn smaller(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2; the intrinsic accesses no memory. AVX2 has no minimum of 64
        // bits, and distances fit a byte.
        unsafe { _mm256_min_epu8(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: __m256i, limit: __m256i) -> u32 {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe {
            let beyond = _mm256_cmpgt_epi64(distances, limit);
            !(_mm256_movemask_pd(_mm256_castsi256_pd(beyond)) as u32) & 0b1111
        }
    }

    #[inline(always)]
    unsafe fn store(distances: __m256i, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: the caller has AVX2 and space for `COUNT` hits at `out`. A hit is its distance,
        // then its position: 64 bits. Nothing needs alignment.
        unsafe {
            let lane = _mm256_setr_epi64x(0, 1, 2, 3);
            let positions =
                _mm256_slli_epi64::<32>(_mm256_add_epi64(lane, _mm256_set1_epi64x(first.into())));
            let hits = _mm256_or_si256(positions, distances);
            let order = _mm256_loadu_si256(COMPRESS[which as usize & 15].as_ptr().cast());
            _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(hits, order));
        }
    }
}

/// Fingerprints 0 and 1, then 2 and 3.
#[derive(Clone, Copy)]
struct Four128(__m256i, __m256i);

impl Lanes for Four128 {
    type Fingerprint = u128;
    type Distances = __m256i;
    const COUNT: usize = 4;

    #[inline(always)]
    unsafe fn splat(fingerprint: u128) -> Self {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe {
            let one = _mm_set_epi64x((fingerprint >> 64) as i64, fingerprint as i64);
            let two = _mm256_broadcastsi128_si256(one);
            Four128(two, two)
        }
    }

    #[inline(always)]
    unsafe fn load(from: *const u128) -> Self {
        // SAFETY: the caller has AVX2 and guarantees `COUNT` readable fingerprints at `from`; the
        // loads need no alignment.
        unsafe {
            Four128(
                _mm256_loadu_si256(from.cast()),
                _mm256_loadu_si256(from.add(2).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u128, count: usize) -> Self {
        // SAFETY: the caller has AVX2 and guarantees `count` readable fingerprints at `from`;
        // masked lanes are not read.
        unsafe {
            let low = first_lanes((2 * count).min(4));
            let high = first_lanes((2 * count).saturating_sub(4));
            Four128(
                _mm256_maskload_epi64(from.cast(), low),
                _mm256_maskload_epi64(from.wrapping_add(2).cast(), high),
            )
        }
    }

    #[inline(always)]
    unsafe fn and(self, mask: Self) -> Self {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe {
            Four128(
                _mm256_and_si256(self.0, mask.0),
                _mm256_and_si256(self.1, mask.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn distances(self, query: Self) -> __m256i {
        // SAFETY: the caller has AVX2; the intrinsics access no memory.
        unsafe {
            let a = popcount(self.0, query.0);
            let b = popcount(self.1, query.1);
            let sums = _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            // The sums are in the order 0, 2, 1, 3.
            _mm256_permute4x64_epi64::<0b11_01_10_00>(sums)
        }
    }

    #[inline(always)]
    unsafe fn splat_distance(distance: u32) -> __m256i {
        // SAFETY: `Four64` has the same contract and the same distances.
        unsafe { Four64::splat_distance(distance) }
    }

    #[inline(always)]
    unsafe fn smaller(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `Four64` has the same contract and the same distances.
        unsafe { Four64::smaller(a, b) }
    }

    #[inline(always)]
    unsafe fn within(distances: __m256i, limit: __m256i) -> u32 {
        // SAFETY: `Four64` has the same contract and the same distances.
        unsafe { Four64::within(distances, limit) }
    }

    #[inline(always)]
    unsafe fn store(distances: __m256i, which: u32, first: u32, out: *mut Hit) {
        // SAFETY: `Four64` has the same contract and the same distances.
        unsafe { Four64::store(distances, which, first, out) }
    }
}

/// A mask of the `count` (0..=4) lowest lanes of 64 bits.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn first_lanes(count: usize) -> __m256i {
    // SAFETY: the caller has AVX2; the intrinsics access no memory.
    unsafe {
        _mm256_cmpgt_epi64(
            _mm256_set1_epi64x(count as i64),
            _mm256_setr_epi64x(0, 1, 2, 3),
        )
    }
}

/// The population counts of four differences of 64 bits: table lookups of nibbles, then sums of
/// eight bytes.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn popcount(fingerprints: __m256i, query: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2; the intrinsics access no memory.
    unsafe {
        let nibble = _mm256_set1_epi8(0x0F);
        let ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        ));
        let different = _mm256_xor_si256(fingerprints, query);
        let low = _mm256_and_si256(different, nibble);
        let high = _mm256_and_si256(_mm256_srli_epi64::<4>(different), nibble);
        let bytes = _mm256_add_epi8(
            _mm256_shuffle_epi8(ones, low),
            _mm256_shuffle_epi8(ones, high),
        );
        _mm256_sad_epu8(bytes, _mm256_setzero_si256())
    }
}

/// For each set of 64-bit lanes, the permutation of 32-bit lanes that moves it to the front.
static COMPRESS: [[u32; 8]; 16] = {
    let mut orders = [[0; 8]; 16];
    let mut which = 0;
    while which < 16 {
        let (mut lane, mut place) = (0, 0);
        while lane < 4 {
            if which >> lane & 1 == 1 {
                orders[which][place] = 2 * lane;
                orders[which][place + 1] = 2 * lane + 1;
                place += 2;
            }
            lane += 1;
        }
        which += 1;
    }
    orders
};
