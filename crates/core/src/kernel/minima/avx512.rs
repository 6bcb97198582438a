//! AVX-512: eight values at a time.
//!
//! Only throws into bins that were empty some rounds before are stored; a byte for each bin tells
//! which. They are put into the bins one after another when a number of rounds is done, so that no
//! branch depends on a hash.

use std::arch::x86_64::*;
use std::ops::Range;

use super::round::{BINS, EMPTY, MULTIPLIER, key};

/// Throws that are stored before they are put into bins.
const STORED: usize = 512;
/// Values of several rounds between two looks at the bins, and the most rounds.
const LOOKED: usize = 256;
const MOST_ROUNDS: usize = 8;
/// The low half of each number.
const LOW: i64 = 0xffff_ffff;

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
pub(super) unsafe fn fill(
    values: &[u64],
    rounds: Range<usize>,
    count: usize,
    bins: &mut [u64; BINS],
) {
    let mut is_full = bins.map(|bin| if bin == EMPTY { 0 } else { u8::MAX });
    let mut empty = bins[..count].iter().filter(|bin| **bin == EMPTY).count();
    let mut thrown = Thrown {
        entries: [0; STORED + 8],
        stored: 0,
    };
    let at_a_time = (LOOKED / values.len().max(1)).clamp(1, MOST_ROUNDS);
    let (eights, rest) = values.as_chunks::<8>();
    let there = (1 << rest.len()) - 1;
    for some in (rounds.start..rounds.end).step_by(at_a_time) {
        if empty == 0 {
            break;
        }
        let table = BinTable::new(count, &is_full);
        let mut put = |thrown: &mut Thrown| {
            for entry in &thrown.entries[..thrown.stored] {
                let bin = usize::from((entry >> 32) as u8);
                let round = some as u64 + (entry >> 40);
                empty -= usize::from(bins[bin] == EMPTY);
                bins[bin] = bins[bin].min(round << 32 | entry & LOW as u64);
                is_full[bin] = u8::MAX;
            }
            thrown.stored = 0;
        };
        for round in some..rounds.end.min(some + at_a_time) {
            let of_round = Round::new(round, round - some);
            for eight in eights {
                // SAFETY: eight numbers are 64 bytes.
                let eight = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
                let (entries, wanted) = table.throw(eight, of_round);
                thrown.push(entries, wanted);
                if thrown.stored > STORED {
                    put(&mut thrown);
                }
            }
            if !rest.is_empty() {
                // SAFETY: the masked load reads as many numbers as `rest` has.
                let rest = unsafe { _mm512_maskz_loadu_epi64(there, rest.as_ptr().cast()) };
                let (entries, wanted) = table.throw(rest, of_round);
                thrown.push(entries, wanted & there);
                if thrown.stored > STORED {
                    put(&mut thrown);
                }
            }
        }
        put(&mut thrown);
    }
}

/// Throws into bins that were empty.
struct Thrown {
    /// The number in bits 0 to 31, the bin in 32 to 39, and the round, from the first of some, above.
    entries: [u64; STORED + 8],
    stored: usize,
}

impl Thrown {
    /// Appends the wanted ones of eight entries.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn push(&mut self, entries: __m512i, wanted: u8) {
        let packed = _mm512_maskz_compress_epi64(wanted, entries);
        if let Some(to) = self.entries[self.stored..].first_chunk_mut::<8>() {
            // SAFETY: eight numbers are 64 bytes.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), packed) };
            self.stored += wanted.count_ones() as usize;
        }
    }
}

/// A round: its key, and its number in the entries.
#[derive(Clone, Copy)]
struct Round {
    key: __m512i,
    number: __m512i,
}

impl Round {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(round: usize, number: usize) -> Round {
        Round {
            key: _mm512_set1_epi64(key(round) as i64),
            number: _mm512_set1_epi64((number as i64) << 40),
        }
    }
}

/// The number of bins, and a byte for each: zero if it is empty.
struct BinTable {
    count: __m512i,
    is_full: [__m512i; 4],
}

impl BinTable {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(count: usize, is_full: &[u8; BINS]) -> BinTable {
        // SAFETY: each quarter has 64 bytes.
        let quarter =
            |part: usize| unsafe { _mm512_loadu_si512(is_full.as_ptr().add(64 * part).cast()) };
        BinTable {
            count: _mm512_set1_epi64(count as i64),
            is_full: [quarter(0), quarter(1), quarter(2), quarter(3)],
        }
    }

    /// The [entries](Thrown::entries) of values in a round, and which of the bins were empty.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn throw(&self, values: __m512i, round: Round) -> (__m512i, u8) {
        let low = _mm512_set1_epi64(LOW);
        let (own_low, own_high) = (
            _mm512_set1_epi64(MULTIPLIER as i64 & LOW),
            _mm512_set1_epi64((MULTIPLIER >> 32) as i64),
        );
        let values = _mm512_xor_si512(values, round.key);
        let high = _mm512_srli_epi64::<32>(values);
        // The four products of halves. A product multiplies the low halves of its factors.
        let low_low = _mm512_mul_epu32(values, own_low);
        let low_high = _mm512_mul_epu32(values, own_high);
        let high_low = _mm512_mul_epu32(high, own_low);
        let high_high = _mm512_mul_epu32(high, own_high);
        // Bits 32 to 95 of the whole product; the sum is below 2^64.
        let carry = _mm512_add_epi64(
            _mm512_srli_epi64::<32>(low_low),
            _mm512_and_si512(low_high, low),
        );
        let middle = _mm512_add_epi64(high_low, carry);
        // Bits 64 to 127.
        let upper = _mm512_add_epi64(
            _mm512_add_epi64(high_high, _mm512_srli_epi64::<32>(low_high)),
            _mm512_srli_epi64::<32>(middle),
        );
        // The hash is the upper half of the product xor the lower one. Its high 32 bits give the bin,
        // its low 32 bits are the number.
        let hash_high = _mm512_xor_si512(_mm512_srli_epi64::<32>(upper), middle);
        let number = _mm512_xor_si512(upper, low_low);
        let bin = _mm512_mul_epu32(hash_high, self.count);
        let entries = _mm512_ternarylogic_epi64::<0xca>(low, number, bin);
        // Byte 4 of each entry is the bin: bits 0 to 6 choose from a half of the table, bit 7 the half.
        let [a, b, c, d] = self.is_full;
        let halves = [
            _mm512_permutex2var_epi8(a, entries, b),
            _mm512_permutex2var_epi8(c, entries, d),
        ];
        let is_full = _mm512_mask_blend_epi8(_mm512_movepi8_mask(entries), halves[0], halves[1]);
        let wanted = _mm512_testn_epi64_mask(is_full, _mm512_set1_epi64(0xff << 32));
        (_mm512_or_si512(entries, round.number), wanted)
    }
}
