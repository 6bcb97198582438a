//! AVX-512: a line is one register.

use std::arch::x86_64::*;

use super::{Found, KeyTable, LINE_KEYS, Line, line_of};

/// # Safety
/// The processor must have [`Level::Avx512`](crate::kernel::Level::Avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) unsafe fn probe(table: &KeyTable, keys: &[u64], found: &mut Found) {
    let (lines, reported) = (table.lines.as_ptr(), table.reported.as_ptr());
    let (slots, missed) = (found.slots.as_mut_ptr(), found.missed.as_mut_ptr());
    let (mut slot_count, mut missed_count) = (0, 0);
    for &key in keys {
        let line = line_of(key, table.lines.len());
        // SAFETY: `line_of` stays below the number of lines, which is also that of `reported`;
        // neither list grows beyond the number of keys, for which `KeyTable::probe` made room.
        unsafe {
            let equal = equal(&*lines.add(line), key);
            let hit = equal & u32::from(*reported.add(line));
            *slots.add(slot_count) = (line * LINE_KEYS) as u16 + hit.trailing_zeros() as u16;
            *missed.add(missed_count) = key;
            slot_count += usize::from(hit != 0);
            missed_count += usize::from(equal == 0);
        }
    }
    (found.slot_count, found.missed_count) = (slot_count, missed_count);
}

/// One bit for each place of the line that holds `key`.
#[inline]
#[target_feature(enable = "avx512f")]
fn equal(line: &Line, key: u64) -> u32 {
    // SAFETY: a line is 64 bytes, aligned to 64.
    let keys = unsafe { _mm512_load_si512(line.0.as_ptr().cast()) };
    u32::from(_mm512_cmpeq_epi64_mask(keys, _mm512_set1_epi64(key as i64)))
}
