//! What a segment's header says of its contents.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | number of documents |
//! | 4..12 | seed of the hashes of ids and keys |
//! | 12..20 | number of distinct fingerprints |
//! | 20 | width of a fingerprint in bits, w; 0 if sketches are found by keys |
//! | 21 | the distance within which everything is found |
//! | 22 | number of tables, t |
//! | then w bytes | which bit of a fingerprint stands where, the highest place first |
//! | then 3t bytes | of each table: rotation, radius, bits of the directory |

use crate::index::plan::{MOST_DIRECTORY_BITS, MOST_TABLES, Table};

const FIXED: usize = 23;

/// The attributes of a segment, as its header holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// How many documents there are.
    pub documents: u32,
    /// The seed of the hashes of ids and keys.
    pub seed: u64,
    /// How many different fingerprints there are.
    pub distinct: u64,
    /// The distance within which everything is found.
    pub distance: u8,
    /// Which bit stands where; empty if sketches are found by keys.
    pub order: Vec<u8>,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Attributes {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED + self.order.len() + 3 * self.tables.len());
        out.extend(self.documents.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(self.distinct.to_le_bytes());
        out.extend([
            self.order.len() as u8,
            self.distance,
            self.tables.len() as u8,
        ]);
        out.extend(&self.order);
        for table in &self.tables {
            out.extend([
                table.rotation as u8,
                table.radius as u8,
                table.directory_bits as u8,
            ]);
        }
        out
    }

    /// Reads what claims to be attributes; `None` if they make no sense.
    pub fn decode(bytes: &[u8]) -> Option<Attributes> {
        let (fixed, rest) = bytes.split_at_checked(FIXED)?;
        let (width, distance, tables) = (fixed[20], fixed[21], fixed[22]);
        let (order, rest) = rest.split_at_checked(width.into())?;
        if rest.len() != 3 * usize::from(tables) || u32::from(tables) > MOST_TABLES {
            return None;
        }
        let tables = rest.chunks_exact(3).map(|table| Table {
            rotation: table[0].into(),
            radius: table[1].into(),
            directory_bits: table[2].into(),
        });
        let tables: Vec<Table> = tables.collect();
        let sound = |table: &Table| {
            table.rotation + table.directory_bits <= width.into()
                && table.rotation < width.into()
                && table.directory_bits <= MOST_DIRECTORY_BITS
        };
        if !tables.iter().all(sound) || tables.is_empty() != (width == 0) {
            return None;
        }
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| fixed[at + i]));
        Some(Attributes {
            documents: u32::from_le_bytes(std::array::from_fn(|i| fixed[i])),
            seed: eight(4),
            distinct: eight(12),
            distance,
            order: order.to_vec(),
            tables,
        })
    }
}
