//! The definition, a row at a time.

use super::{LANE, SignRows, Sums};

pub(super) fn accumulate(rows: &SignRows, slots: &[u16], sums: &mut Sums) {
    for &slot in slots {
        let first = usize::from(rows.first_lane[usize::from(slot)]);
        for (lane, sums) in rows.rows[first..first + rows.lanes]
            .iter()
            .zip(sums.0.chunks_mut(LANE))
        {
            for (sum, &sign) in sums.iter_mut().zip(&lane.0) {
                *sum += i32::from(sign);
            }
        }
    }
}
