//! NEON: a line is four registers.
//!
//! It takes 34 instructions for each key of English text, the scalar search 32. But here only the end
//! of the loop is a branch; there some eight branches for each key depend on it.

use std::arch::aarch64::*;

use super::table::{KeyTable, LINE_KEYS, ProbeLine, Probed, line_of};

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn probe(table: &KeyTable, keys: &[u64], found: &mut Probed) {
    let lines = table.lines.as_ptr();
    let (slots, missed) = (found.slots.as_mut_ptr(), found.missed.as_mut_ptr());
    let (mut slot_count, mut missed_count) = (0, 0);
    for &key in keys {
        let line = line_of(key, table.lines.len());
        // SAFETY: `line_of` is below the number of lines. Both lists have space for all keys
        // (`KeyTable::probe`), and at most one entry per key is written to each.
        unsafe {
            let nth = nth(&*lines.add(line), key);
            // Without a hit, this is overwritten, and may be below zero.
            *slots.add(slot_count) = (line * LINE_KEYS + nth).wrapping_sub(1) as u16;
            *missed.add(missed_count) = key;
            slot_count += usize::from(nth > table.dropped_places);
            missed_count += usize::from(nth == 0);
        }
    }
    (found.slot_count, found.missed_count) = (slot_count, missed_count);
}

/// One more than the position of `key` in the line; zero if it is not there.
#[inline]
#[target_feature(enable = "neon")]
fn nth(line: &ProbeLine, key: u64) -> usize {
    let key = vdupq_n_u64(key);
    let (pairs, _) = line.0.as_chunks::<2>();
    // SAFETY: a pair has two keys of 8 bytes; the load needs no alignment.
    let equal = |pair: usize| unsafe { vceqq_u64(vld1q_u64(pairs[pair].as_ptr()), key) };
    let number = |pair: u64| vcombine_u64(vcreate_u64(2 * pair + 1), vcreate_u64(2 * pair + 2));
    // At most one position holds the key.
    let low = vbslq_u64(equal(1), number(1), vandq_u64(equal(0), number(0)));
    let high = vbslq_u64(equal(3), number(3), vandq_u64(equal(2), number(2)));
    vaddvq_u64(vorrq_u64(low, high)) as usize
}
