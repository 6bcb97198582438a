//! The definition, byte by byte.

use xxhash_rust::xxh3::xxh3_64;

use super::{HASHED_BYTES, HEAD, Runs};

pub(super) fn find(runs: &mut Runs) {
    runs.padded[HEAD..HEAD + runs.text_len].make_ascii_lowercase();
    runs.len = 0;
    let mut place = 0;
    while place < runs.text_len {
        let rest = &runs.padded[HEAD + place..HEAD + runs.text_len];
        let bytes = rest
            .iter()
            .take_while(|&&byte| runs.class.contains(byte))
            .count();
        if bytes > 0 {
            runs.starts[runs.len] = place as u16;
            runs.ends[runs.len] = (place + bytes) as u16;
            runs.len += 1;
        }
        place += bytes + 1;
    }
    hash(runs);
}

/// Hashes the runs that have been found, or sets them apart.
#[inline]
pub(super) fn hash(runs: &mut Runs) {
    runs.apart_len = 0;
    for ordinal in 0..runs.len {
        let range = usize::from(runs.starts[ordinal])..usize::from(runs.ends[ordinal]);
        let run = &runs.padded[HEAD + range.start..HEAD + range.end];
        if run.len() > HASHED_BYTES || !run.is_ascii() {
            runs.apart[runs.apart_len] = ordinal as u16;
            runs.apart_len += 1;
        } else {
            runs.hashes[ordinal] = xxh3_64(run);
        }
    }
}
