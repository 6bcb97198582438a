//! AVX-512: run borders by byte compression, hashes eight runs at a time.

use std::arch::x86_64::*;

use super::window::{Class, HASHED_BYTES, HEAD, Runs, joined};
use crate::kernel::avx512::positions;

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
pub(super) unsafe fn find(runs: &mut Runs) {
    let (mut starts, mut ends, mut carry, mut alone_before) = (0, 0, 0, 0);
    let others = match runs.class {
        Class::Letters => 0,
        Class::LettersDigitsAndBeyond | Class::Joined => !0,
    };
    // One block more than the text: a run may end at the end of the text.
    for base in (0..=runs.text_len).step_by(64) {
        // SAFETY: `base` is at most `WINDOW_BYTES`, and the padding has 128 bytes, so the block is
        // in `padded`.
        let mut inside = unsafe { fold(runs.padded.as_mut_ptr().add(HEAD + base), others) };
        if runs.class == Class::Joined {
            // SAFETY: the block is in `padded`, as for `fold`.
            let (low_lines, joints) = unsafe { marks(runs.padded.as_ptr().add(HEAD + base)) };
            let alone = inside | low_lines;
            let next = runs.class.stands_alone(runs.padded[HEAD + base + 64]);
            inside = joined(alone, joints, alone_before, next);
            alone_before = alone >> 63;
        }
        let before = inside << 1 | carry;
        carry = inside >> 63;
        // SAFETY: each array has space for the runs of a window and 64 more entries; 32 are written
        // at a time.
        unsafe {
            starts += positions(inside & !before, base, runs.starts.as_mut_ptr().add(starts));
            ends += positions(!inside & before, base, runs.ends.as_mut_ptr().add(ends));
        }
    }
    (runs.len, runs.apart_len) = (starts, 0);
    for first in (0..runs.len).step_by(8) {
        // SAFETY: each array has eight entries from `first` on. Those after the last run hold
        // positions of this or an earlier window, or zero, so all are within the window.
        unsafe { hash(runs, first) };
    }
}

/// Folds 64 bytes in place; returns a bit for each that belongs to the class.
///
/// # Safety
/// `block` must be valid for reading and writing 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn fold(block: *mut u8, others: u64) -> u64 {
    // SAFETY: the caller guarantees that `block` is valid for reading 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(block.cast()) };
    let capitals = below(bytes, b'A', 26);
    let folded = _mm512_mask_add_epi8(bytes, capitals, bytes, _mm512_set1_epi8(0x20));
    // SAFETY: the caller guarantees that `block` is valid for writing 64 bytes.
    unsafe { _mm512_storeu_si512(block.cast(), folded) };
    let beyond = below(bytes, b'0', 10) | _mm512_movepi8_mask(bytes);
    below(folded, b'a', 26) | beyond & others
}

/// The bytes in `first..first + count`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn below(bytes: __m512i, first: u8, count: i8) -> u64 {
    let moved = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
    _mm512_cmplt_epu8_mask(moved, _mm512_set1_epi8(count))
}

/// A bit for each of 64 bytes that is an underscore, and one for each that may join two runs.
///
/// # Safety
/// `block` must be valid for reading 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn marks(block: *const u8) -> (u64, u64) {
    // SAFETY: the caller guarantees that `block` is valid for reading 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(block.cast()) };
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let joints = is(b'\'') | is(b'"') | is(b'.') | is(b',') | is(b':') | is(b';');
    (is(b'_'), joints)
}

/// Hashes the eight runs from `first` on and lists those that are apart.
///
/// # Safety
/// Each array must have eight entries from `first` on, with positions within the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn hash(runs: &mut Runs, first: usize) {
    // SAFETY: each array has eight entries from `first` on. Their positions are in the window, and
    // the padding allows reads of eight bytes before and after each.
    let (lengths, low, high) = unsafe {
        let starts = _mm_loadu_si128(runs.starts.as_ptr().add(first).cast());
        let ends = _mm_loadu_si128(runs.ends.as_ptr().add(first).cast());
        let text = runs.padded.as_ptr().add(HEAD);
        let starts = _mm512_cvtepu16_epi64(starts);
        let ends = _mm512_cvtepu16_epi64(ends);
        (
            _mm512_sub_epi64(ends, starts),
            _mm512_i64gather_epi64::<1>(starts, text.cast()),
            _mm512_i64gather_epi64::<1>(ends, text.sub(8).cast()),
        )
    };
    let over_eight = _mm512_cmpgt_epi64_mask(lengths, _mm512_set1_epi64(8));
    let short = up_to_eight(lengths, low, high);
    let hashes = _mm512_mask_mov_epi64(short, over_eight, nine_to_sixteen(lengths, low, high));
    // SAFETY: `hashes` has eight entries from `first` on, 64 bytes.
    unsafe { _mm512_storeu_si512(runs.hashes.as_mut_ptr().add(first).cast(), hashes) };
    let signs = _mm512_set1_epi8(-0x80);
    // The bytes of `low` that belong to the run, shifted up.
    let surplus = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_slli_epi64::<3>(lengths));
    let own = _mm512_sllv_epi64(low, _mm512_max_epi64(surplus, _mm512_setzero_si512()));
    let (own, high) = match runs.class {
        Class::Joined => (others(own), others(high)),
        _ => (own, high),
    };
    let apart = _mm512_test_epi64_mask(own, signs)
        | _mm512_mask_test_epi64_mask(over_eight, high, signs)
        | _mm512_cmpgt_epi64_mask(lengths, _mm512_set1_epi64(HASHED_BYTES as i64));
    if apart != 0 {
        list_apart(runs, first, apart);
    }
}

/// Sets all bits of each byte that is not a lower-case letter, a digit or zero; clears the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn others(bytes: __m512i) -> __m512i {
    let plain = below(bytes, b'a', 26) | below(bytes, b'0', 10);
    _mm512_movm_epi8(!plain & _mm512_test_epi8_mask(bytes, bytes))
}

/// Lists the runs from `first` on whose bit is set in `apart`, up to the last run.
fn list_apart(runs: &mut Runs, first: usize, apart: u8) {
    for ordinal in
        (first..runs.len.min(first + 8)).filter(|ordinal| apart >> (ordinal - first) & 1 == 1)
    {
        runs.apart[runs.apart_len] = ordinal as u16;
        runs.apart_len += 1;
    }
}

/// XXH3-64 of inputs of 1 to 8 bytes: `low` starts with the first byte, `high` ends with the last.
/// Computes two length classes at once, since both are two multiplications between shifts.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn up_to_eight(lengths: __m512i, low: __m512i, high: __m512i) -> __m512i {
    let all = |value: u64| _mm512_set1_epi64(value as i64);
    let under_four = _mm512_cmplt_epi64_mask(lengths, all(4));
    let pick = |longer, shorter| _mm512_mask_mov_epi64(all(longer), under_four, all(shorter));

    // 1 to 3: the last byte, the length, the first byte, the middle byte.
    let byte = |value| _mm512_and_si512(value, all(0xff));
    let half = _mm512_slli_epi64::<3>(_mm512_srli_epi64::<1>(lengths));
    let middle = byte(_mm512_srlv_epi64(low, half));
    let outer = _mm512_or_si512(
        _mm512_srli_epi64::<56>(high),
        _mm512_slli_epi64::<16>(byte(low)),
    );
    let inner = _mm512_or_si512(
        _mm512_slli_epi64::<8>(lengths),
        _mm512_slli_epi64::<24>(middle),
    );
    let shorter = _mm512_ternarylogic_epi64::<0x1e>(all(FLIP_1_TO_3), outer, inner);

    // 4 to 8: the first four bytes and the last four.
    let both = _mm512_or_si512(_mm512_slli_epi64::<32>(low), _mm512_srli_epi64::<32>(high));
    let keyed = _mm512_xor_si512(both, all(FLIP_4_TO_8));
    let (once, twice) = (_mm512_rol_epi64::<49>(keyed), _mm512_rol_epi64::<24>(keyed));
    let longer = _mm512_ternarylogic_epi64::<0x96>(keyed, once, twice);

    let keyed = _mm512_mask_mov_epi64(longer, under_four, shorter);
    let product = _mm512_mullo_epi64(keyed, pick(MIX_2, PRIME_2));
    let shifted = _mm512_srlv_epi64(product, pick(35, 29));
    let added = _mm512_mask_add_epi64(shifted, !under_four, shifted, lengths);
    let mixed = _mm512_xor_si512(product, added);
    let product = _mm512_mullo_epi64(mixed, pick(MIX_2, PRIME_3));
    _mm512_xor_si512(product, _mm512_srlv_epi64(product, pick(28, 32)))
}

/// XXH3-64 of inputs of 9 to 16 bytes: the first eight and the last eight.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
fn nine_to_sixteen(lengths: __m512i, low: __m512i, high: __m512i) -> __m512i {
    let all = |value: u64| _mm512_set1_epi64(value as i64);
    let low = _mm512_xor_si512(low, all(FLIP_LOW_9_TO_16));
    let high = _mm512_xor_si512(high, all(FLIP_HIGH_9_TO_16));
    let reverse = _mm512_set_epi64(
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
    );
    let reversed = _mm512_shuffle_epi8(low, reverse);
    let sum = _mm512_add_epi64(
        _mm512_add_epi64(lengths, reversed),
        _mm512_add_epi64(high, folded_product(low, high)),
    );
    let mixed = _mm512_xor_si512(sum, _mm512_srli_epi64::<37>(sum));
    let product = _mm512_mullo_epi64(mixed, all(MIX_1));
    _mm512_xor_si512(product, _mm512_srli_epi64::<32>(product))
}

/// The XOR of the two halves of the 128-bit product.
#[inline]
#[target_feature(enable = "avx512f")]
fn folded_product(a: __m512i, b: __m512i) -> __m512i {
    let under = _mm512_set1_epi64(0xffff_ffff);
    let (a_high, b_high) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    let low = _mm512_mul_epu32(a, b);
    let high = _mm512_mul_epu32(a_high, b_high);
    let cross = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64::<32>(low));
    let other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(cross, under));
    let upper = _mm512_add_epi64(
        _mm512_add_epi64(high, _mm512_srli_epi64::<32>(cross)),
        _mm512_srli_epi64::<32>(other),
    );
    let lower = _mm512_or_si512(_mm512_slli_epi64::<32>(other), _mm512_and_si512(low, under));
    _mm512_xor_si512(upper, lower)
}

// The multipliers of the specification, and the values of its secret for each length class.
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const MIX_1: u64 = 0x1656_6791_9e37_79f9;
const MIX_2: u64 = 0x9fb2_1c65_1e98_df25;
const FLIP_1_TO_3: u64 = 0x0000_0000_8727_5a9b;
const FLIP_4_TO_8: u64 = 0xc73a_b174_c5ec_d5a2;
const FLIP_LOW_9_TO_16: u64 = 0x6782_737b_ea42_39b9;
const FLIP_HIGH_9_TO_16: u64 = 0xaf56_bc3b_0996_523a;
