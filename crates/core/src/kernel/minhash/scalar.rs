//! The scalar version: the oracle.

use super::group::{GROUP, Group};

pub(super) fn minima(groups: &[Group], values: &[u32], minima: &mut [[u32; GROUP]]) {
    for (group, minima) in groups.iter().zip(minima) {
        for &value in values {
            for (place, minimum) in minima.iter_mut().enumerate() {
                let low = u64::from(group.low[place]) * u64::from(value);
                let high = group.high[place].wrapping_mul(value);
                let hash = high.wrapping_add((low >> 32) as u32);
                *minimum = hash.wrapping_add(group.offset[place]).min(*minimum);
            }
        }
    }
}
