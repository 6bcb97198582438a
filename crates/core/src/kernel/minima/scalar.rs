//! Plain Rust, the oracle.

use std::ops::Range;

use super::round::{BINS, EMPTY, hash, key};

pub(super) fn fill(values: &[u64], rounds: Range<usize>, count: usize, bins: &mut [u64; BINS]) {
    // The bins before this one are full.
    let mut full = 0;
    for round in rounds {
        let bins_left = bins[full..count].iter();
        full += bins_left.take_while(|bin| **bin != EMPTY).count();
        if full == count {
            break;
        }
        let (key, first) = (key(round), (round as u64) << 32);
        for value in values {
            let hash = hash(value ^ key);
            let bin = ((hash >> 32) * count as u64) >> 32;
            // A bin needs no check of its bounds then, which makes this a tenth faster.
            let bin = &mut bins[usize::from(bin as u8)];
            *bin = (*bin).min(first | hash & 0xffff_ffff);
        }
    }
}
