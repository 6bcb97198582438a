//! The scalar definition, byte by byte.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
use super::window::BLOCKS;
use super::window::{HASHED_BYTES, HEAD, Runs};

pub(super) fn find(runs: &mut Runs) {
    runs.padded[HEAD..HEAD + runs.text_len].make_ascii_lowercase();
    runs.len = 0;
    let mut place = 0;
    while place < runs.text_len {
        let bytes = (place..runs.text_len)
            .take_while(|&place| belongs(runs, place))
            .count();
        if bytes > 0 {
            runs.starts[runs.len] = place as u16;
            runs.ends[runs.len] = (place + bytes) as u16;
            runs.len += 1;
        }
        place += bytes + 1;
    }
    let class = runs.class;
    hash(runs, |_, run| class.is_plain(run));
}

/// Whether the byte at `place` belongs to a run. The padding belongs to none.
fn belongs(runs: &Runs, place: usize) -> bool {
    let stands_alone = |index: usize| runs.class.stands_alone(runs.padded[index]);
    let index = HEAD + place;
    stands_alone(index)
        || runs.class.joins(runs.padded[index])
            && stands_alone(index - 1)
            && stands_alone(index + 1)
}

/// Hashes the runs found, or lists them as apart if they are long or not plain. `is_plain` receives
/// the range and the bytes of a run.
#[inline]
fn hash(runs: &mut Runs, is_plain: impl Fn(Range<usize>, &[u8]) -> bool) {
    runs.apart_len = 0;
    for ordinal in 0..runs.len {
        let range = usize::from(runs.starts[ordinal])..usize::from(runs.ends[ordinal]);
        let run = &runs.padded[HEAD + range.start..][..range.len()];
        if run.len() > HASHED_BYTES || !is_plain(range, run) {
            runs.apart[runs.apart_len] = ordinal as u16;
            runs.apart_len += 1;
        } else {
            runs.hashes[ordinal] = xxh3_64(run);
        }
    }
}

/// Hashes the runs found, or lists them as apart if they are long or have one of the `odd` bytes: a
/// bit for each byte of the window.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline]
pub(super) fn hash_without(runs: &mut Runs, odd: &[u64; BLOCKS]) {
    hash(runs, |places, _| {
        let (block, shift) = (places.start / 64, places.start % 64);
        let bits = odd[block] >> shift | odd[block + 1] << 1 << (63 - shift);
        bits & ((1 << places.len()) - 1) == 0
    });
}
