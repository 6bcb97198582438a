//! The plan of the tables for a segment of fingerprints.
//!
//! Each table has a *key*, a subset of the bits, and is sorted with these bits first. In at least
//! one table, the keys of two fingerprints within k bits differ in no more bits than the *radius*
//! of the table. A query visits the bucket of its own key and of each key within the radius, and
//! compares the fingerprints there in full. Two kinds of plans guarantee that:
//!
//! * The bits are divided into blocks, and each block is the key of a table with radius rᵢ. If the
//!   sum of (rᵢ + 1) is k + 1, some block has at most rᵢ errors: otherwise there were at least
//!   Σ(rᵢ + 1) = k + 1. With k + 1 blocks all rᵢ are zero (Manku, Jain and Das Sarma, WWW 2007).
//!   With fewer blocks keys are longer, but a query visits more buckets (multi-index hashing:
//!   Norouzi, Punjani and Fleet, CVPR 2012).
//! * With m > k + 1 blocks, each [union of m - k blocks](crate::search::hamming::blocks) is the key
//!   of a table (Manku et al.). For 64 bits, k = 3 and m = 5 these are ten tables with
//!   keys of 25 or 26 bits.
//!
//! The fastest plan depends on the number of fingerprints, on how evenly their bits are set, and on
//! the bytes that tables may take. For 64 bits and k = 3, four tables suffice for ten million
//! uniform fingerprints; skewed ones need ten. Only the first d bits of a key select a bucket.
//! Errors in later bits do not matter: a larger d gives more and smaller buckets, of which a query
//! visits more. The d bits are not stored.

use crate::options::Layout;
use crate::permutation::Value;
use crate::search::hamming::blocks::{ball, choose, divide, entropies, sort_by_entropy, unions};

/// The maximum number of bits that select a bucket: a directory of 64 MiB.
pub const MAX_DIRECTORY_BITS: u32 = 24;
/// The maximum number of tables of a segment.
pub const MAX_TABLES: u32 = 12;

/// Nanoseconds of a search outside the cache.
mod cost {
    /// Time to find a bucket.
    pub const BUCKET: f64 = 30.0;
    /// Time to compare a fingerprint in it.
    pub const COMPARISON: f64 = 0.15;
}

/// A query never visits more buckets of a table than this.
const MAX_BUCKETS: f64 = 4096.0;

/// One table of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlan {
    /// The bit of a fingerprint at each position, the highest position first.
    pub order: Vec<u8>,
    /// The maximum number of errors in the bits that select a bucket.
    pub radius: u32,
    /// The number of leading bits that select a bucket.
    pub directory_bits: u32,
}

/// Chooses tables for a search within `k` bits among about `count` fingerprints of `width` bits
/// that resemble `sample`. At least one table.
///
/// Any choice finds all fingerprints within `k`; the sample affects the speed only.
pub fn plan<F: Value>(
    sample: &[F],
    count: u64,
    width: u32,
    k: u32,
    layout: Layout,
) -> Vec<TablePlan> {
    let entropies = entropies(sample, width);
    let bytes = most_bytes(layout, width);
    let max_bits = count.max(1).ilog2().min(MAX_DIRECTORY_BITS);
    let mut best: Option<Candidate> = None;
    for keys in families(&entropies, k.min(width)) {
        for max_bits in 0..=max_bits {
            let choice = candidate(&keys, &entropies, count, max_bits);
            let worth = |choice: &Candidate| ((choice.bytes - bytes).max(0.0), choice.cost);
            if best
                .as_ref()
                .is_none_or(|best| worth(&choice) < worth(best))
            {
                best = Some(choice);
            }
        }
    }
    best.map(|best| best.tables).unwrap_or_default()
}

/// The maximum number of bytes of the tables for each fingerprint.
fn most_bytes(layout: Layout, width: u32) -> f64 {
    let fingerprints = match layout {
        Layout::Fast => 9.0,
        // 26 bytes at 64 bits.
        Layout::Compact => 3.25,
    };
    fingerprints * f64::from(width) / 8.0
}

/// The bits of a key, those of highest entropy first, and the most errors in it.
struct TableKey {
    bits: Vec<u8>,
    radius: u32,
}

/// The sets of keys to choose from; each of them finds every fingerprint within `k`.
fn families(entropies: &[f64], k: u32) -> Vec<Vec<TableKey>> {
    let width = entropies.len() as u32;
    let mut families = Vec::new();
    for tables in 1..=MAX_TABLES.min(k + 1).min(width) {
        let key = |(number, bits): (u32, Vec<u8>)| {
            // k + 1 is divided evenly; the first blocks get the remainder.
            let share = (k + 1) / tables + u32::from(number < (k + 1) % tables);
            let radius = share.saturating_sub(1);
            TableKey { bits, radius }
        };
        families.push((0..).zip(divide(entropies, tables)).map(key).collect());
    }
    for count in k + 2..=width.min(k + MAX_TABLES) {
        if k == 0 || choose(count, k) > MAX_TABLES.into() {
            break;
        }
        let key = |mut bits: Vec<u8>| {
            sort_by_entropy(&mut bits, entropies);
            TableKey { bits, radius: 0 }
        };
        let unions = unions(&divide(entropies, count), k);
        families.push(unions.into_iter().map(key).collect());
    }
    families
}

struct Candidate {
    tables: Vec<TablePlan>,
    /// Nanoseconds for a query.
    cost: f64,
    /// Bytes for a fingerprint.
    bytes: f64,
}

fn candidate(keys: &[TableKey], entropies: &[f64], count: u64, max_bits: u32) -> Candidate {
    let mut choice = Candidate {
        tables: Vec::new(),
        cost: 0.0,
        bytes: 0.0,
    };
    for key in keys {
        let mut best = (0, f64::INFINITY);
        for bits in 0..=max_bits.min(key.bits.len() as u32) {
            let named = &key.bits[..bits as usize];
            let entropy: f64 = named.iter().map(|bit| entropies[usize::from(*bit)]).sum();
            let candidates = count as f64 * (-entropy).exp2();
            let buckets = ball(bits, key.radius);
            let time = buckets * (cost::BUCKET + cost::COMPARISON * candidates);
            if time < best.1 && buckets <= MAX_BUCKETS {
                best = (bits, time);
            }
        }
        let mut order = key.bits.clone();
        order.extend((0..entropies.len() as u8).filter(|bit| !key.bits.contains(bit)));
        let table = TablePlan {
            order,
            radius: key.radius,
            directory_bits: best.0,
        };
        choice.cost += best.1;
        choice.bytes += f64::from(table.value_bytes());
        choice.bytes += 4.0 * f64::from(best.0).exp2() / count.max(1) as f64;
        choice.tables.push(table);
    }
    choice
}

impl TablePlan {
    /// Bytes of a stored fingerprint, without the bits that select its bucket.
    pub fn value_bytes(&self) -> u32 {
        let bits = self.order.len() as u32 - self.directory_bits;
        bits.div_ceil(8).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permutation::Permutation;
    use proptest::prelude::*;

    fn mix(seed: u64) -> u64 {
        let mixed = (seed ^ seed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ mixed >> 29
    }

    fn uniform() -> Vec<u64> {
        (1..5000).map(mix).collect()
    }

    /// Bit `j` is set with a chance between 0.02 and 0.99.
    fn skewed() -> Vec<u64> {
        let bit = |seed: u64, bit: u64| mix(seed ^ mix(bit + 77)) & 255 < 5 + bit * 249 / 63;
        let value = |seed| (0..64).fold(0, |bits, at| bits | u64::from(bit(seed, at)) << at);
        (1..5000).map(value).collect()
    }

    proptest! {
        /// Promise (The index): With every choice of tables, two fingerprints within the distance
        /// meet in one of them
        #[test]
        fn fingerprints_within_the_distance_share_a_bucket_of_a_table(
            width in 1u32..=64,
            k in 0u32..10,
            count in 0u64..1 << 36,
            (compact, even) in any::<(bool, bool)>(),
            flips in prop::collection::vec(prop::collection::vec(0u32..64, 10), 200),
        ) {
            let layout = if compact { Layout::Compact } else { Layout::Fast };
            let sample = if even { uniform() } else { skewed() };
            let tables = plan(&sample, count, width, k, layout);
            prop_assert!(!tables.is_empty() && tables.len() <= MAX_TABLES as usize);
            let orders = tables.iter().map(|table| Permutation::<u64>::new(&table.order).unwrap());
            let orders: Vec<_> = orders.collect();
            for flips in flips {
                let flips = &flips[..k as usize];
                let error = flips.iter().fold(0u64, |error, bit| error | 1 << (bit % width));
                let met = |(table, order): (&TablePlan, &Permutation<u64>)| {
                    let wrong = order.apply(error).prefix(width, table.directory_bits);
                    wrong.count_ones() <= table.radius
                };
                prop_assert!(tables.iter().zip(&orders).any(met), "{tables:?} {error:b}");
            }
        }
    }

    /// Promise (The index): With every choice of tables, two …
    #[test]
    fn every_family_finds_all_errors_within_the_distance() {
        for (width, k) in [(8, 1), (10, 2), (12, 3), (11, 4)] {
            let families = families(&vec![1.0; width], k);
            assert!(families.len() > k as usize);
            for error in 0u32..1 << width {
                let errors = |key: &TableKey| {
                    key.bits
                        .iter()
                        .filter(|bit| error >> **bit & 1 == 1)
                        .count()
                };
                let meets = |key: &TableKey| errors(key) <= key.radius as usize;
                if error.count_ones() <= k {
                    assert!(
                        families.iter().all(|keys| keys.iter().any(meets)),
                        "{error:b}"
                    );
                }
            }
        }
    }

    #[test]
    fn tables_stay_within_the_bytes_of_their_layout() {
        let bytes = |tables: &[TablePlan], count: u64| -> f64 {
            let directory =
                |table: &TablePlan| (4u64 << table.directory_bits) as f64 / count as f64;
            let each = |table: &TablePlan| f64::from(table.value_bytes()) + directory(table);
            tables.iter().map(each).sum()
        };
        for sample in [uniform(), skewed()] {
            for count in [1_000_000, 10_000_000, 1_000_000_000] {
                assert!(bytes(&plan(&sample, count, 64, 3, Layout::Compact), count) <= 26.0);
                assert!(bytes(&plan(&sample, count, 64, 3, Layout::Fast), count) <= 72.0);
            }
        }
        let radii =
            |tables: &[TablePlan]| tables.iter().map(|table| table.radius).collect::<Vec<_>>();
        let compact = plan(&uniform(), 10_000_000, 64, 3, Layout::Compact);
        assert_eq!(radii(&compact), [0; 4]);
        assert_eq!(
            radii(&plan(&skewed(), 10_000_000, 64, 3, Layout::Fast)),
            [0; 10]
        );
    }
}
