//! The attributes of a segment, which its header holds.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | number of documents |
//! | 4..12 | seed of the hashes of names and keys |
//! | 12..20 | number of distinct fingerprints |
//! | 20 | width of a fingerprint in bits, w; 0 if sketches are searched by keys |
//! | 21 | the largest distance of a match |
//! | 22 | number of tables, t |
//! | 23..27 | number of removed documents |
//! | then t times w + 2 bytes | of each table: the bit of a fingerprint at each position, the highest first; radius; bits of the directory |

use super::plan::{MAX_DIRECTORY_BITS, MAX_TABLES, TablePlan};

const FIXED: usize = 27;

/// The attributes of a segment, as its header holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The number of documents.
    pub documents: u32,
    /// How many of them are removed.
    pub removed: u32,
    /// The seed of the hashes of names and keys.
    pub seed: u64,
    /// The number of distinct fingerprints.
    pub distinct: u64,
    /// The largest distance of a match.
    pub distance: u8,
    /// Bits of a fingerprint; 0 if sketches are searched by keys.
    pub width: u8,
    /// The tables.
    pub tables: Vec<TablePlan>,
}

impl Attributes {
    /// Encodes them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.documents.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(self.distinct.to_le_bytes());
        out.extend([self.width, self.distance, self.tables.len() as u8]);
        out.extend(self.removed.to_le_bytes());
        for table in &self.tables {
            out.extend(&table.order);
            out.extend([table.radius as u8, table.directory_bits as u8]);
        }
        out
    }

    /// Decodes attributes; `None` if they are invalid.
    pub fn decode(bytes: &[u8]) -> Option<Attributes> {
        let (fixed, rest) = bytes.split_at_checked(FIXED)?;
        let (width, distance, count) = (fixed[20], fixed[21], fixed[22]);
        if u32::from(count) > MAX_TABLES || (count == 0) != (width == 0) {
            return None;
        }
        let tables = tables(rest, width.into(), count.into())?;
        let sound = |table: &TablePlan| {
            let bits = table.directory_bits;
            bits <= MAX_DIRECTORY_BITS && bits <= width.into()
        };
        if !tables.iter().all(sound) {
            return None;
        }
        let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| fixed[at + i]));
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| fixed[at + i]));
        Some(Attributes {
            documents: four(0),
            removed: four(23),
            seed: eight(4),
            distinct: eight(12),
            distance,
            width,
            tables,
        })
    }
}

fn tables(bytes: &[u8], width: usize, count: usize) -> Option<Vec<TablePlan>> {
    let table = |bytes: &[u8]| TablePlan {
        order: bytes[..width].to_vec(),
        radius: bytes[width].into(),
        directory_bits: bytes[width + 1].into(),
    };
    let all = bytes.len() == count * (width + 2);
    all.then(|| bytes.chunks_exact(width + 2).map(table).collect())
}
