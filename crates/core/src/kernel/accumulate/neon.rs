//! NEON: blocks of rows are added by carry-save adders.

use super::rows::{LANE, SignRows, Sums};
use crate::kernel::neon::{BLOCK, BitColumns};

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn accumulate(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    match rows.lanes {
        1 => add_lanes::<1>(rows, slots, sums),
        _ => add_lanes::<2>(rows, slots, sums),
    }
}

#[target_feature(enable = "neon")]
fn add_lanes<const LANES: usize>(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    let (mut columns, mut counts, mut added) = (BitColumns::<LANES>::new(), [0; 128], 0);
    for few in slots.chunks(BLOCK / LANES) {
        let mut block = [0; BLOCK];
        for (&slot, lanes) in few.iter().zip(block.as_chunks_mut::<LANES>().0) {
            // SAFETY: `first_lane` has an entry for every 16-bit slot. `SignRows` stores only
            // indices of lanes that are followed by at least `lanes` = LANES lanes in `rows`.
            unsafe {
                let first = usize::from(*rows.first_lane.get_unchecked(usize::from(slot)));
                *lanes = *rows.rows.as_ptr().add(first).cast::<[u64; LANES]>();
                added += i32::from(first != 0);
            }
        }
        columns.add(&block, &mut counts);
    }
    columns.finish(&mut counts);
    for (sum, ones) in sums.0[..LANES * LANE].iter_mut().zip(counts) {
        *sum += 2 * ones as i32 - added;
    }
}
