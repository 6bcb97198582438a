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
//! | then t times w + 2 bytes | of each table: which bit of a fingerprint stands where, the highest place first; radius; bits of the directory |
//!
//! In files of the first form one order served all tables, each of which had it rotated:
//!
//! | bytes behind the first 23 | |
//! |---|---|
//! | w | which bit stands where |
//! | 3t | of each table: rotation, radius, bits of the directory |

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
    /// Bits of a fingerprint; 0 if sketches are found by keys.
    pub width: u8,
    /// Whether tables store fingerprints as a whole: the first form.
    pub whole: bool,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Attributes {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.documents.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(self.distinct.to_le_bytes());
        out.extend([self.width, self.distance, self.tables.len() as u8]);
        for table in &self.tables {
            out.extend(&table.order);
            out.extend([table.radius as u8, table.directory_bits as u8]);
        }
        out
    }

    /// Reads what claims to be attributes, of a file of the first form if `whole`; `None` if they
    /// make no sense.
    pub fn decode(bytes: &[u8], whole: bool) -> Option<Attributes> {
        let (fixed, rest) = bytes.split_at_checked(FIXED)?;
        let (width, distance, count) = (fixed[20], fixed[21], fixed[22]);
        if u32::from(count) > MOST_TABLES || (count == 0) != (width == 0) {
            return None;
        }
        let tables = match whole {
            true => rotated(rest, width.into(), count.into()),
            false => ordered(rest, width.into(), count.into()),
        }?;
        let sound = |table: &Table| {
            let bits = table.directory_bits;
            bits <= MOST_DIRECTORY_BITS && bits <= width.into()
        };
        if !tables.iter().all(sound) {
            return None;
        }
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| fixed[at + i]));
        Some(Attributes {
            documents: u32::from_le_bytes(std::array::from_fn(|i| fixed[i])),
            seed: eight(4),
            distinct: eight(12),
            distance,
            width,
            whole,
            tables,
        })
    }
}

/// Tables, each with its order.
fn ordered(bytes: &[u8], width: usize, count: usize) -> Option<Vec<Table>> {
    let table = |bytes: &[u8]| Table {
        order: bytes[..width].to_vec(),
        radius: bytes[width].into(),
        directory_bits: bytes[width + 1].into(),
    };
    let all = bytes.len() == count * (width + 2);
    all.then(|| bytes.chunks_exact(width + 2).map(table).collect())
}

/// Tables that share an order, rotated.
fn rotated(bytes: &[u8], width: usize, count: usize) -> Option<Vec<Table>> {
    let (order, rest) = bytes.split_at_checked(width)?;
    let table = |bytes: &[u8]| {
        let rotation = usize::from(bytes[0]);
        let (front, back) = order.split_at_checked(rotation)?;
        Some(Table {
            order: [back, front].concat(),
            radius: bytes[1].into(),
            directory_bits: bytes[2].into(),
        })
    };
    let tables: Option<Vec<Table>> = rest.chunks_exact(3).map(table).collect();
    tables.filter(|_| rest.len() == 3 * count)
}
