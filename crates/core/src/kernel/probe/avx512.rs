//! AVX-512: a line is one register; keys are looked up in blocks.
//!
//! The mask of each comparison is stored to memory, and a whole block of masks is loaded as one
//! vector. Moving each mask to a general register takes longer: that was slower than AVX2. The
//! masks are loaded one block later, since such a load waits until all of their stores are done.

use std::arch::x86_64::*;

use super::table::{KeyTable, LINE_KEYS, MULTIPLIER, Probed, SPARE};

/// The number of keys in a block.
const BLOCK: usize = SPARE;

/// For each key of a block: the first slot of its line, and the positions in it that hold the key.
#[repr(C, align(64))]
struct Block {
    first_slots: [u16; BLOCK],
    equal: [u8; BLOCK],
}

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
pub(super) unsafe fn probe(table: &KeyTable, keys: &[u64], found: &mut Probed) {
    const EMPTY: Block = Block {
        first_slots: [0; BLOCK],
        equal: [0; BLOCK],
    };
    let mut blocks = [EMPTY; 2];
    let mut earlier: &[u64] = &[];
    (found.slot_count, found.missed_count) = (0, 0);
    for (number, keys) in keys.chunks(BLOCK).chain([&[][..]]).enumerate() {
        let block = &mut blocks[number % 2];
        find_lines(table, keys, block);
        compare(table, keys, block);
        // SAFETY: a block has at most `BLOCK` keys. Neither list exceeds the number of keys, and
        // `KeyTable::probe` allocated that many entries and `SPARE` = `BLOCK` more.
        unsafe { append(table, earlier, &blocks[1 - number % 2], found) };
        earlier = keys;
    }
}

/// Stores the first slot of each key's line, as defined by [`line_of`](super::line_of).
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn find_lines(table: &KeyTable, keys: &[u64], block: &mut Block) {
    let multiplier = _mm512_set1_epi64(MULTIPLIER as i64);
    let lines = _mm512_set1_epi64(table.lines.len() as i64);
    for (keys, first_slots) in keys.chunks(8).zip(block.first_slots.chunks_exact_mut(8)) {
        let present = 0xff >> (8 - keys.len());
        // SAFETY: the mask selects only existing keys; eight first slots have 16 bytes.
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

/// Stores for each key a bit for each position of its line that holds it.
#[inline]
#[target_feature(enable = "avx512f")]
fn compare(table: &KeyTable, keys: &[u64], block: &mut Block) {
    let slots = table.lines.as_ptr().cast::<u64>();
    let places = block.first_slots.iter().zip(&mut block.equal);
    for (&key, (&first_slot, equal)) in keys.iter().zip(places) {
        // SAFETY: `find_lines` stored the first slot of an existing line, which has 64 bytes and is
        // aligned to 64.
        let line = unsafe { _mm512_load_si512(slots.add(usize::from(first_slot)).cast()) };
        *equal = _mm512_cmpeq_epi64_mask(line, _mm512_set1_epi64(key as i64));
    }
}

/// Appends the slots and missed keys of a block to the lists.
///
/// # Safety
/// There must be at most [`BLOCK`] keys, and both lists must have space for [`BLOCK`] entries after
/// their current ends.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
unsafe fn append(table: &KeyTable, keys: &[u64], block: &Block, found: &mut Probed) {
    if keys.is_empty() {
        return;
    }
    let present = u64::MAX >> (BLOCK - keys.len());
    // SAFETY: `equal` has 64 bytes, `first_slots` 128 bytes; both are aligned to 64.
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
        // SAFETY: at most 32 slots are appended at a time, 64 in all; the caller has space for
        // them.
        unsafe {
            let end = found.slots.as_mut_ptr().add(found.slot_count);
            _mm512_storeu_si512(end.cast(), packed);
        }
        found.slot_count += hits.count_ones() as usize;
    }
    for (eight, keys) in keys.chunks(8).enumerate() {
        let missed = (missed >> (8 * eight)) as u8;
        // SAFETY: `missed` has no bit beyond the last key, so only keys are read. Every store of
        // eight ends at most 64 entries after the initial end, for which the caller has space.
        unsafe {
            let keys = _mm512_maskz_loadu_epi64(missed, keys.as_ptr().cast());
            let end = found.missed.as_mut_ptr().add(found.missed_count);
            _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi64(missed, keys));
        }
        found.missed_count += missed.count_ones() as usize;
    }
}

/// The index of the bit set in each byte that has one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn places(bits: __m512i) -> __m512i {
    // Lookup tables for the lower and the upper four bits.
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
