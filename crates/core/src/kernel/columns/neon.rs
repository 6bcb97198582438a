//! NEON: blocks of words are added by carry-save adders.

use super::counts::ColumnCounts;
use crate::kernel::hamming::Fingerprint;
use crate::kernel::neon::{BLOCK, BitColumns};

/// # Safety
/// The processor must have [`Level::Neon`](crate::kernel::Level::Neon).
#[target_feature(enable = "neon")]
pub(super) unsafe fn count<F: Fingerprint>(words: &[F], counts: &mut ColumnCounts) {
    let lanes = bytemuck::cast_slice(words);
    match size_of::<F>() {
        8 => count_lanes::<1>(lanes, counts),
        _ => count_lanes::<2>(lanes, counts),
    }
}

/// Adds lane i of `words` to the columns of lane i mod LANES.
#[target_feature(enable = "neon")]
fn count_lanes<const LANES: usize>(words: &[u64], counts: &mut ColumnCounts) {
    let mut columns = BitColumns::<LANES>::new();
    let (blocks, rest) = words.as_chunks::<BLOCK>();
    for block in blocks {
        columns.add(block, &mut counts.0);
    }
    if !rest.is_empty() {
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        columns.add(&last, &mut counts.0);
    }
    columns.finish(&mut counts.0);
}
