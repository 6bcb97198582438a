//! The end of a sketch that verifies exactly: the set of the text's shingles.
//!
//! | bytes | |
//! |---|---|
//! | | the [list](shingle_list) of the shingles |
//! | 4 | the length of both, so that the list can be found from the end of a sketch |

use super::shingle_list;

/// The bytes of the length.
const LENGTH: usize = 4;

/// Appends the trailer of an ascending set of shingles to `out`.
///
/// # Panics
/// If the set has 2³² hashes or more.
pub(super) fn append(set: &[u64], out: &mut Vec<u8>) {
    let start = out.len();
    shingle_list::append(set, out);
    let length = u32::try_from(out.len() - start + LENGTH).expect("a trailer of less than 4 GiB");
    out.extend(length.to_le_bytes());
}

/// The length of the trailer at the end of `sketch`, by its last bytes: at most that of the sketch.
pub(super) fn length(sketch: &[u8]) -> usize {
    let length = sketch.last_chunk::<LENGTH>();
    let length = length.map_or(0, |length| u32::from_le_bytes(*length) as usize);
    length.min(sketch.len())
}

/// What a trailer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer<'a> {
    list: &'a [u8],
}

impl<'a> Trailer<'a> {
    /// Reads a trailer; `None` if `bytes` are too short for one, or of another length than they say.
    /// The list is not checked.
    pub fn read(bytes: &'a [u8]) -> Option<Trailer<'a>> {
        let (list, length) = bytes.split_last_chunk::<LENGTH>()?;
        if u32::from_le_bytes(*length) as usize != bytes.len() {
            return None;
        }
        shingle_list::count(list)?;
        Some(Trailer { list })
    }

    /// The number of shingles.
    pub fn shingles(&self) -> usize {
        shingle_list::count(self.list).unwrap_or(0)
    }

    /// Replaces the content of `set` by the shingles; `false` if the list is none.
    pub fn read_set(&self, set: &mut Vec<u64>) -> bool {
        shingle_list::read(self.list, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn trailers_are_read_back(
            set in prop::collection::btree_set(any::<u64>(), 0..50),
            before in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let set: Vec<u64> = set.into_iter().collect();
            let mut sketch = before.clone();
            append(&set, &mut sketch);
            let (plain, trailer) = sketch.split_at(sketch.len() - length(&sketch));
            prop_assert_eq!(plain, &*before);
            let read = Trailer::read(trailer).unwrap();
            prop_assert_eq!(read.shingles(), set.len());
            let mut read_back = Vec::new();
            prop_assert!(read.read_set(&mut read_back));
            prop_assert_eq!(read_back, set);
        }

        #[test]
        fn other_bytes_are_no_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..100),
            count in 0..9u32,
            is_long_enough: bool,
        ) {
            prop_assert!(length(&bytes) <= bytes.len());
            if is_long_enough && bytes.len() >= 2 * LENGTH {
                bytes[..4].copy_from_slice(&count.to_le_bytes());
                let (end, whole) = (bytes.len() - LENGTH, bytes.len() as u32);
                bytes[end..].copy_from_slice(&whole.to_le_bytes());
            }
            if let Some(trailer) = Trailer::read(&bytes) {
                let mut set = Vec::new();
                let _ = trailer.read_set(&mut set);
                prop_assert!(set.len() <= trailer.shingles());
            }
        }
    }
}
