//! Sets of 64-bit hashes in sketches: ascending, eight bytes each, little-endian.

use std::borrow::Cow;

use crate::text::shingles::{little_endian, sort_to_set};

/// Sorts and deduplicates `hashes` and appends them; returns the size of the set.
pub(crate) fn write(hashes: &mut Vec<u64>, out: &mut Vec<u8>) -> usize {
    sort_to_set(hashes);
    out.extend_from_slice(&little_endian(hashes));
    hashes.len()
}

/// The hashes of a set; copied only if the bytes are not aligned or the machine is big-endian.
///
/// # Panics
/// If the length is not a multiple of eight.
pub(crate) fn read(bytes: &[u8]) -> Cow<'_, [u64]> {
    let (hashes, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "{} bytes of hashes", bytes.len());
    match bytemuck::try_cast_slice(bytes) {
        Ok(aligned) if cfg!(target_endian = "little") => Cow::Borrowed(aligned),
        _ => Cow::Owned(hashes.iter().copied().map(u64::from_le_bytes).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_wherever_they_lie() {
        for shift in 0..9 {
            let mut out = vec![1; shift];
            let hashes = [7, u64::MAX, 7, 0, 1 << 40];
            assert_eq!(write(&mut hashes.to_vec(), &mut out), 4);
            assert_eq!(*read(&out[shift..]), [0, 7, 1 << 40, u64::MAX]);
        }
        assert!(read(&[]).is_empty());
    }
}
