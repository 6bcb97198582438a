//! Search among the minima of a few documents for those of similar ones.
//!
//! Two documents of Jaccard similarity s agree in a band of r minima with probability s^r, as in
//! [`Bands`]. All bands of the indexed documents are sorted, and a bitmap tells
//! that most bands of a query are not among them, so that a query costs some nanoseconds for each
//! band. It is for many queries to a small index.

use crate::sketch::Bands;

/// The share of pairs with the least similarity that share a band.
const RECALL: f64 = 0.95;
/// The most minima of a band: a key has them and the number of the band.
const MOST_ROWS: usize = 7;
/// The bitmap has this many bits for each band of an indexed document, or up to twice as many.
const BITS_OF_BAND: usize = 32;
/// The multiplier of the hash of a key; odd, with random bits.
const MULTIPLIER: u64 = 0x9e6c_63d0_876a_46ad;

/// Lists of minima, a byte of each, all of the same length.
pub struct MinimaIndex<'a> {
    lists: &'a [u8],
    length: usize,
    rows: usize,
    /// The hashed bands of all lists, with the position of the list, ascending.
    bands: Vec<(u64, u32)>,
    /// Whether any band has the hash of a bit.
    bitmap: Vec<u64>,
    shift: u32,
    /// The number of bands before those with the hash of each word of the bitmap.
    starts: Vec<u32>,
}

impl<'a> MinimaIndex<'a> {
    /// Indexes `lists`, of `length` minima each, for lists of documents with at least the similarity
    /// `least`; `None` if so few minima cannot find 95 % of them.
    ///
    /// O(n log n) for n minima; some 30 bytes for each band.
    ///
    /// # Panics
    /// If `length` is 0.
    pub fn new(lists: &'a [u8], length: usize, least: f64) -> Option<MinimaIndex<'a>> {
        let bands = Bands::choose(least, RECALL, length).ok()?;
        let rows = bands.rows().min(MOST_ROWS);
        let mut bands = Vec::new();
        for (list, position) in lists.chunks_exact(length).zip(0..) {
            hashes(list, rows, &mut |hash| bands.push((hash, position)));
        }
        bands.sort_unstable();
        let bits = (BITS_OF_BAND * bands.len()).next_power_of_two().max(64);
        let mut index = MinimaIndex {
            lists,
            length,
            rows,
            bitmap: vec![0; bits / 64],
            shift: u64::BITS - bits.trailing_zeros(),
            bands: Vec::new(),
            starts: vec![0; bits / 64 + 1],
        };
        for (hash, _) in &bands {
            let (word, bit) = index.bit(*hash);
            index.bitmap[word] |= bit;
            index.starts[word + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut index.starts {
            sum += *start;
            *start = sum;
        }
        index.bands = bands;
        Some(index)
    }

    /// Calls `visit` with the position of each list that shares a band with `list`, and the number of
    /// minima in which they agree; in no particular order. `found` is a buffer.
    ///
    /// # Panics
    /// If `list` has another length than the indexed ones.
    pub fn near(&self, list: &[u8], found: &mut Vec<u32>, mut visit: impl FnMut(u32, u32)) {
        assert_eq!(list.len(), self.length, "minima of a document");
        found.clear();
        hashes(list, self.rows, &mut |hash| {
            let (word, bit) = self.bit(hash);
            if self.bitmap[word] & bit != 0 {
                let range = self.starts[word] as usize..self.starts[word + 1] as usize;
                let equal = self.bands[range].iter().filter(|(band, _)| *band == hash);
                found.extend(equal.map(|(_, position)| position));
            }
        });
        found.sort_unstable();
        found.dedup();
        for &position in found.iter() {
            let other = &self.lists[position as usize * self.length..][..self.length];
            visit(position, equal(list, other));
        }
    }

    fn bit(&self, hash: u64) -> (usize, u64) {
        let hash = hash >> self.shift;
        ((hash / 64) as usize, 1 << (hash % 64))
    }
}

/// Calls `visit` with a hash of each band of a list: of the minima and the number of the band. Different
/// bands have different ones.
fn hashes(list: &[u8], rows: usize, visit: &mut impl FnMut(u64)) {
    match rows {
        // The bands of 208 minima, with a fixed number of loads.
        4 => hashes_of::<4>(list, visit),
        _ => list
            .chunks_exact(rows)
            .zip(0u64..)
            .for_each(|(band, number)| {
                visit(hash(band, number));
            }),
    }
}

fn hashes_of<const ROWS: usize>(list: &[u8], visit: &mut impl FnMut(u64)) {
    let (bands, _) = list.as_chunks::<ROWS>();
    for (band, number) in bands.iter().zip(0u64..) {
        visit(hash(band, number));
    }
}

#[inline(always)]
fn hash(band: &[u8], number: u64) -> u64 {
    let minima = |key: u64, minimum: &u8| key << 8 | u64::from(*minimum);
    band.iter().fold(number, minima).wrapping_mul(MULTIPLIER)
}

/// The number of places at which two lists are equal.
fn equal(a: &[u8], b: &[u8]) -> u32 {
    // Sums of bytes, which do not overflow.
    let parts = a.chunks(128).zip(b.chunks(128));
    let equal = |(a, b): (&[u8], &[u8])| {
        let equal = a.iter().zip(b).map(|(a, b)| u8::from(a == b));
        u32::from(equal.sum::<u8>())
    };
    parts.map(equal).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_that_share_a_band_by_all_pairs(
            lists in prop::collection::vec(prop::collection::vec(0u8..3, 40), 0..20),
            query in prop::collection::vec(0u8..3, 40),
        ) {
            let all = lists.concat();
            let index = MinimaIndex::new(&all, 40, 0.5).unwrap();
            prop_assert_eq!(index.rows, 2);
            let (mut near, mut buffer) = (Vec::new(), vec![7]);
            index.near(&query, &mut buffer, |position, equal| near.push((position, equal)));
            let shares = |list: &Vec<u8>| {
                list.chunks_exact(2).zip(query.chunks_exact(2)).any(|(a, b)| a == b)
            };
            let expected: Vec<(u32, u32)> = (0..)
                .zip(&lists)
                .filter(|(_, list)| shares(list))
                .map(|(position, list)| {
                    (position, list.iter().zip(&query).filter(|(a, b)| a == b).count() as u32)
                })
                .collect();
            prop_assert_eq!(near, expected);
        }
    }

    #[test]
    fn too_few_minima_are_refused() {
        assert!(MinimaIndex::new(&[], 4, 0.5).is_none());
        assert_eq!(MinimaIndex::new(&[], 208, 0.5).unwrap().rows, 4);
    }
}
