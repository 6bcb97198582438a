//! The table of a set.

/// The maximum number of hashes that are looked up in one call.
pub const BATCH: usize = 64;
/// The number of hashes in a line.
const LINE: usize = 8;
/// The maximum number of places for each hash to which a table grows until every hash fits.
const MAX_PLACES: usize = 64;

/// The hashes of a line. Free places have a hash that belongs to another line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct MemberLine(pub(super) [u64; LINE]);

/// A set of 64-bit hashes, each in the line that its low bits name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberTable {
    /// A power of two of lines, at least two.
    lines: Vec<MemberLine>,
}

impl MemberTable {
    /// The table of different hashes; `None` if too many share their low bits.
    ///
    /// Memory for each hash: some 50 bytes of a thousand random hashes, 130 of a million, at most
    /// 512. O(n) time.
    pub fn new(hashes: &[u64]) -> Option<MemberTable> {
        let least = (2 * hashes.len()).div_ceil(LINE).next_power_of_two().max(2);
        let most = least.max(MAX_PLACES * hashes.len() / LINE);
        let counts = std::iter::successors(Some(least), |count| Some(2 * count));
        let mut counts = counts.take_while(|count| *count <= most);
        counts.find_map(|count| MemberTable::of_size(hashes, count))
    }

    fn of_size(hashes: &[u64], count: usize) -> Option<MemberTable> {
        // The number of a line's neighbour is a hash that belongs there.
        let free = |line: usize| line as u64 ^ 1;
        let mut lines: Vec<MemberLine> = (0..count)
            .map(|line| MemberLine([free(line); LINE]))
            .collect();
        for &hash in hashes {
            let number = hash as usize & (count - 1);
            let mut places = lines[number].0.iter_mut();
            *places.find(|place| **place == free(number))? = hash;
        }
        Some(MemberTable { lines })
    }

    /// The only line in which `hash` may be.
    #[inline]
    pub(super) fn line(&self, hash: u64) -> &MemberLine {
        &self.lines[hash as usize & (self.lines.len() - 1)]
    }

    /// Whether `hash` is in the set.
    #[inline]
    pub fn contains(&self, hash: u64) -> bool {
        let places = self.line(hash).0.iter();
        places.fold(false, |found, place| found | (*place == hash))
    }
}
