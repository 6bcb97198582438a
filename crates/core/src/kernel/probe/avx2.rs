//! AVX2: a line is two registers.

use std::arch::x86_64::*;

use super::table::{KeyTable, LINE_KEYS, ProbeLine, Probed, line_of};

/// # Safety
/// The processor must have [`Level::Avx2`](crate::kernel::Level::Avx2).
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn probe(table: &KeyTable, keys: &[u64], found: &mut Probed) {
    let lines = table.lines.as_ptr();
    let reported = 0xff << table.dropped_places;
    let (slots, missed) = (found.slots.as_mut_ptr(), found.missed.as_mut_ptr());
    let (mut slot_count, mut missed_count) = (0, 0);
    for &key in keys {
        let line = line_of(key, table.lines.len());
        // SAFETY: `line_of` is below the number of lines. Both lists have space for all keys
        // (`KeyTable::probe`), and at most one entry per key is written to each.
        unsafe {
            let equal = equal(&*lines.add(line), key);
            let hit = equal & reported;
            // Without a hit, this is overwritten, and may exceed 16 bits.
            *slots.add(slot_count) = (line * LINE_KEYS + hit.trailing_zeros() as usize) as u16;
            *missed.add(missed_count) = key;
            slot_count += usize::from(hit != 0);
            missed_count += usize::from(equal == 0);
        }
    }
    (found.slot_count, found.missed_count) = (slot_count, missed_count);
}

/// A bit for each position of the line that holds `key`.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(line: &ProbeLine, key: u64) -> u32 {
    let key = _mm256_set1_epi64x(key as i64);
    let half = |at: usize| {
        // SAFETY: a line has 64 bytes and is aligned to 64, and `at` is 0 or 4 keys of 8 bytes.
        let keys = unsafe { _mm256_load_si256(line.0.as_ptr().add(at).cast()) };
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(keys, key))) as u32
    };
    half(0) | half(4) << 4
}
