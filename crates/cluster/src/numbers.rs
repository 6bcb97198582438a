//! Hashes of numbers, and lists of numbers as bytes.

use simtool_core::Result;

use crate::columns::damaged;

/// Mixes the bits of a number, one to one. Source: Vigna, SplitMix64.
pub fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Numbers, 8 bytes each, little-endian.
pub fn to_bytes(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    numbers.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Replaces the contents of `set` by the numbers in `bytes`.
///
/// # Errors
/// [`ErrorKind::Content`](simtool_core::ErrorKind::Content) if they are not whole numbers.
pub fn read_set(bytes: &[u8], set: &mut Vec<u64>) -> Result<()> {
    let (hashes, rest) = bytes.as_chunks::<8>();
    set.clear();
    set.extend(hashes.iter().map(|hash| u64::from_le_bytes(*hash)));
    match rest {
        [] => Ok(()),
        _ => Err(damaged("a set of shingles is truncated")),
    }
}
