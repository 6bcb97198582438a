//! AVX-512: a line is one register; a block of words is looked up before any is sorted out.
//!
//! A comparison's mask goes to memory, where a whole block of masks becomes one vector again. To a
//! general register, for each word by itself, the way is longer: that lost to AVX2.

use std::arch::x86_64::*;

use super::{Found, KeyTable, LINE_KEYS, MULTIPLIER, SPARE};

/// Words of a block.
const BLOCK: usize = SPARE;

/// The words of a block: where their lines begin, and which places of them hold the word.
#[repr(C, align(64))]
struct Block {
    first_slots: [u16; BLOCK],
    equal: [u8; BLOCK],
}

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
pub(super) unsafe fn probe(table: &KeyTable, keys: &[u64], found: &mut Found) {
    let mut block = Block {
        first_slots: [0; BLOCK],
        equal: [0; BLOCK],
    };
    (found.slot_count, found.missed_count) = (0, 0);
    for keys in keys.chunks(BLOCK) {
        find_lines(table, keys, &mut block);
        compare(table, keys, &mut block);
        // SAFETY: neither list grows beyond the number of keys, and `KeyTable::probe` made room for
        // so many and a block.
        unsafe { sort_out(table, keys, &block, found) };
    }
}

/// The first slot of each key's line, as [`line_of`](super::line_of) has it.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn find_lines(table: &KeyTable, keys: &[u64], block: &mut Block) {
    let multiplier = _mm512_set1_epi64(MULTIPLIER as i64);
    let lines = _mm512_set1_epi64(table.lines.len() as i64);
    for (keys, first_slots) in keys.chunks(8).zip(block.first_slots.chunks_exact_mut(8)) {
        let present = 0xff >> (8 - keys.len());
        // SAFETY: the mask selects the keys that there are; eight first slots are 16 bytes.
        unsafe {
            let keys = _mm512_maskz_loadu_epi64(present, keys.as_ptr().cast());
            let hash = _mm512_srli_epi64::<32>(_mm512_mullo_epi64(keys, multiplier));
            let line = _mm512_srli_epi64::<32>(_mm512_mul_epu32(hash, lines));
            let first = _mm512_slli_epi64::<{ LINE_KEYS.ilog2() }>(line);
            _mm_storeu_si128(
                first_slots.as_mut_ptr().cast(),
                _mm512_cvtepi64_epi16(first),
            );
        }
    }
}

/// For each key, one bit for each place of its line that holds it.
#[inline]
#[target_feature(enable = "avx512f")]
fn compare(table: &KeyTable, keys: &[u64], block: &mut Block) {
    let slots = table.lines.as_ptr().cast::<u64>();
    let places = block.first_slots.iter().zip(&mut block.equal);
    for (&key, (&first_slot, equal)) in keys.iter().zip(places) {
        // SAFETY: `find_lines` stored the first slot of a line: 64 bytes, aligned to 64.
        let line = unsafe { _mm512_load_si512(slots.add(usize::from(first_slot)).cast()) };
        *equal = _mm512_cmpeq_epi64_mask(line, _mm512_set1_epi64(key as i64));
    }
}

/// Appends the keys of a block to the lists they belong to.
///
/// # Safety
/// There must be at most [`BLOCK`] keys, and both lists must have room for a block behind what
/// they hold.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
unsafe fn sort_out(table: &KeyTable, keys: &[u64], block: &Block, found: &mut Found) {
    let present = u64::MAX >> (BLOCK - keys.len());
    // SAFETY: a block has so many bytes, and twice as many of first slots, both aligned to 64.
    let (equal, first_slots) = unsafe {
        let first_slots = block.first_slots.as_ptr();
        (
            _mm512_load_si512(block.equal.as_ptr().cast()),
            [
                _mm512_load_si512(first_slots.cast()),
                _mm512_load_si512(first_slots.add(BLOCK / 2).cast()),
            ],
        )
    };
    let reported = _mm512_set1_epi8((0xff << table.dropped_places) as u8 as i8);
    let hits = _mm512_mask_test_epi8_mask(present, equal, reported);
    let missed = _mm512_mask_testn_epi8_mask(present, equal, equal);
    let places = places(equal);
    let halves = [
        (_mm512_castsi512_si256(places), hits as u32),
        (_mm512_extracti64x4_epi64::<1>(places), (hits >> 32) as u32),
    ];
    for (first_slots, (places, hits)) in first_slots.into_iter().zip(halves) {
        let slots = _mm512_add_epi16(first_slots, _mm512_cvtepu8_epi16(places));
        let packed = _mm512_maskz_compress_epi16(hits, slots);
        // SAFETY: the caller's promise.
        unsafe {
            let end = found.slots.as_mut_ptr().add(found.slot_count);
            _mm512_storeu_si512(end.cast(), packed);
        }
        found.slot_count += hits.count_ones() as usize;
    }
    for (eight, keys) in keys.chunks(8).enumerate() {
        let missed = (missed >> (8 * eight)) as u8;
        // SAFETY: `missed` has no bit behind the last key; the caller's promise.
        unsafe {
            let keys = _mm512_maskz_loadu_epi64(missed, keys.as_ptr().cast());
            let end = found.missed.as_mut_ptr().add(found.missed_count);
            _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi64(missed, keys));
        }
        found.missed_count += missed.count_ones() as usize;
    }
}

/// The number of the bit set in each byte that has one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn places(bits: __m512i) -> __m512i {
    // For the lower and the upper four bits: what each single bit adds.
    let lower = _mm512_broadcast_i32x4(_mm_setr_epi8(
        0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
    ));
    let upper = _mm512_broadcast_i32x4(_mm_setr_epi8(
        0, 4, 5, 0, 6, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
    ));
    let four = _mm512_set1_epi8(15);
    let low = _mm512_and_si512(bits, four);
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bits), four);
    _mm512_or_si512(
        _mm512_shuffle_epi8(lower, low),
        _mm512_shuffle_epi8(upper, high),
    )
}
