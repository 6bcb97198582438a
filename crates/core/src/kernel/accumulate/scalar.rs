//! The scalar definition, row by row.

use super::rows::{LANE, SignRows, Sums};

pub(super) fn accumulate(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    for &slot in slots {
        let first = usize::from(rows.first_lane[usize::from(slot)]);
        if first == 0 {
            continue;
        }
        let row = &rows.rows[first..first + rows.lanes];
        for (lane, sums) in row.iter().zip(sums.0.chunks_mut(LANE)) {
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += if lane >> column & 1 == 1 { 1 } else { -1 };
            }
        }
    }
}
