//! Which tables does a segment of fingerprints get?
//!
//! Each table has a *key*, some of the bits, and is sorted with those leading. Two fingerprints
//! within k bits agree in the key of one table at least, or differ there in no more bits than the
//! table allows, its radius; a query looks into the bucket of its own key and of each one within
//! the radius, and compares what is there in full. There are two ways to make sure of that:
//!
//! * The bits are dealt out to blocks, and each block is the key of a table with radius rᵢ. If the
//!   sum of (rᵢ + 1) is k + 1, some block has at most rᵢ errors: otherwise there were at least
//!   Σ(rᵢ + 1) = k + 1. With k + 1 blocks all rᵢ are zero (Manku, Jain and Das Sarma, WWW 2007);
//!   with fewer blocks keys are longer, but there are more buckets to look into (multi-index
//!   hashing: Norouzi, Punjani and Fleet, CVPR 2012).
//! * With m > k + 1 blocks, at least m - k of them have no error: each choice of so many is the
//!   key of a table (the former of the papers again). For 64 bits, k = 3 and m = 5 these are ten
//!   tables with keys of 25 or 26 bits.
//!
//! Which is the fastest depends on how many fingerprints there are and how evenly their bits are
//! set, and on how many bytes they may take: four tables do for ten million uniform fingerprints,
//! skewed ones want ten. Only the first d bits of a key name a bucket. Errors behind them do not
//! matter, so d, too, is a choice between more and larger buckets. The d bits are not stored.

use super::Layout;
use super::permutation::Value;

/// The most bits that name a bucket: a directory of 64 MiB.
pub const MOST_DIRECTORY_BITS: u32 = 24;
/// The most tables of a segment.
pub const MOST_TABLES: u32 = 12;

/// Nanoseconds of a search outside the cache.
mod cost {
    /// To find a bucket.
    pub const BUCKET: f64 = 30.0;
    /// To compare a fingerprint in it.
    pub const COMPARISON: f64 = 0.15;
}

/// Buckets beyond so many are not worth listing.
const MOST_BUCKETS: f64 = 4096.0;

/// One table of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Which bit of a fingerprint stands where, the highest place first.
    pub order: Vec<u8>,
    /// How many errors there may be among the bits that name a bucket.
    pub radius: u32,
    /// How many leading bits name a bucket.
    pub directory_bits: u32,
}

/// Chooses at least one table for about `count` fingerprints that look like `sample`, of `width`
/// bits, to be found within `k`.
///
/// Whatever is chosen, everything within `k` is found; the sample decides only how fast.
pub fn plan<F: Value>(sample: &[F], count: u64, width: u32, k: u32, layout: Layout) -> Vec<Table> {
    let entropies = entropies(sample, width);
    let bytes = most_bytes(layout, width);
    let most_bits = count.max(1).ilog2().min(MOST_DIRECTORY_BITS);
    let mut best: Option<Choice> = None;
    for keys in families(&entropies, k.min(width)) {
        for most_bits in 0..=most_bits {
            let choice = choose(&keys, &entropies, count, most_bits);
            let worth = |choice: &Choice| ((choice.bytes - bytes).max(0.0), choice.cost);
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

/// Bytes that the tables of a layout may take for each fingerprint.
fn most_bytes(layout: Layout, width: u32) -> f64 {
    let fingerprints = match layout {
        Layout::Fast => 9.0,
        // 26 bytes at 64 bits.
        Layout::Compact => 3.25,
    };
    fingerprints * f64::from(width) / 8.0
}

/// The bits of a key, those that say most first, and how many errors it may have.
struct Key {
    bits: Vec<u8>,
    radius: u32,
}

/// Every set of keys of which one at least finds whatever is within `k`.
fn families(entropies: &[f64], k: u32) -> Vec<Vec<Key>> {
    let width = entropies.len() as u32;
    let mut families = Vec::new();
    for tables in 1..=MOST_TABLES.min(k + 1).min(width) {
        let key = |(number, bits): (u32, Vec<u8>)| {
            // k + 1 is dealt out evenly; the first blocks get what is over.
            let share = (k + 1) / tables + u32::from(number < (k + 1) % tables);
            let radius = share.saturating_sub(1);
            Key { bits, radius }
        };
        families.push((0..).zip(deal(entropies, tables)).map(key).collect());
    }
    for count in k + 2..=width.min(k + MOST_TABLES) {
        let choices = choices(count, count - k);
        if k == 0 || choices.len() > MOST_TABLES as usize {
            break;
        }
        let blocks = deal(entropies, count);
        let key = |chosen: &Vec<usize>| {
            let mut bits: Vec<u8> = chosen.iter().flat_map(|i| &blocks[*i]).copied().collect();
            bits.sort_by(|a, b| by_entropy(entropies, *a, *b));
            Key { bits, radius: 0 }
        };
        families.push(choices.iter().map(key).collect());
    }
    families
}

/// Every choice of `wanted` numbers below `count`, as long as there are not too many.
fn choices(count: u32, wanted: u32) -> Vec<Vec<usize>> {
    let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
    for left in (0..wanted).rev() {
        let longer = choices.iter().flat_map(|known| {
            let first = known.last().map_or(0, |last| last + 1);
            (first..(count - left) as usize).map(|next| [&known[..], &[next]].concat())
        });
        choices = longer.take(1 + (MOST_TABLES as usize).pow(2)).collect();
    }
    choices
}

struct Choice {
    tables: Vec<Table>,
    /// Nanoseconds a query.
    cost: f64,
    /// Bytes a fingerprint.
    bytes: f64,
}

fn choose(keys: &[Key], entropies: &[f64], count: u64, most_bits: u32) -> Choice {
    let mut choice = Choice {
        tables: Vec::new(),
        cost: 0.0,
        bytes: 0.0,
    };
    for key in keys {
        let mut best = (0, f64::INFINITY);
        for bits in 0..=most_bits.min(key.bits.len() as u32) {
            let named = &key.bits[..bits as usize];
            let entropy: f64 = named.iter().map(|bit| entropies[usize::from(*bit)]).sum();
            let candidates = count as f64 * (-entropy).exp2();
            let buckets = ball(bits, key.radius);
            let time = buckets * (cost::BUCKET + cost::COMPARISON * candidates);
            if time < best.1 && buckets <= MOST_BUCKETS {
                best = (bits, time);
            }
        }
        let mut order = key.bits.clone();
        order.extend((0..entropies.len() as u8).filter(|bit| !key.bits.contains(bit)));
        let table = Table {
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

impl Table {
    /// Bytes of a stored fingerprint: without the bits that name its bucket.
    pub fn value_bytes(&self) -> u32 {
        let bits = self.order.len() as u32 - self.directory_bits;
        bits.div_ceil(8).max(1)
    }
}

/// How many numbers of `bits` bits differ from a given one in at most `radius`.
fn ball(bits: u32, radius: u32) -> f64 {
    let (mut ways, mut sum) = (1.0, 0.0);
    for errors in 0..=radius.min(bits) {
        sum += ways;
        ways *= f64::from(bits - errors) / f64::from(errors + 1);
    }
    sum
}

/// Deals bits out to blocks of nearly equal entropy, the best first in each.
fn deal(entropies: &[f64], count: u32) -> Vec<Vec<u8>> {
    let mut order: Vec<u8> = (0..entropies.len() as u8).collect();
    order.sort_by(|a, b| by_entropy(entropies, *a, *b));
    let mut blocks = vec![(0f64, Vec::new()); count as usize];
    for bit in order {
        if let Some(least) = blocks.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
            least.0 += entropies[usize::from(bit)];
            least.1.push(bit);
        }
    }
    blocks.into_iter().map(|(_, bits)| bits).collect()
}

/// The bit that says more comes first.
fn by_entropy(entropies: &[f64], a: u8, b: u8) -> std::cmp::Ordering {
    entropies[usize::from(b)].total_cmp(&entropies[usize::from(a)])
}
/// Entropy of order two of each bit: 2^-sum is the chance that two fingerprints agree, were the
/// bits independent.
fn entropies<F: Value>(sample: &[F], width: u32) -> Vec<f64> {
    let of_bit = |bit: u32| {
        let ones = sample
            .iter()
            .filter(|value| value.widen() >> bit & 1 == 1)
            .count();
        // One imagined fingerprint of each kind keeps a constant bit above zero.
        let one = (ones as f64 + 1.0) / (sample.len() as f64 + 2.0);
        -(one * one + (1.0 - one) * (1.0 - one)).log2()
    };
    (0..width).map(of_bit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::permutation::Permutation;
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
        #[test]
        fn whatever_is_within_the_distance_meets_in_a_table(
            width in 1u32..=64,
            k in 0u32..10,
            count in 0u64..1 << 36,
            (compact, even) in any::<(bool, bool)>(),
            flips in prop::collection::vec(prop::collection::vec(0u32..64, 10), 200),
        ) {
            let layout = if compact { Layout::Compact } else { Layout::Fast };
            let sample = if even { uniform() } else { skewed() };
            let tables = plan(&sample, count, width, k, layout);
            prop_assert!(!tables.is_empty() && tables.len() <= MOST_TABLES as usize);
            let orders = tables.iter().map(|table| Permutation::<u64>::new(&table.order).unwrap());
            let orders: Vec<_> = orders.collect();
            for flips in flips {
                let flips = &flips[..k as usize];
                let error = flips.iter().fold(0u64, |error, bit| error | 1 << (bit % width));
                let met = |(table, order): (&Table, &Permutation<u64>)| {
                    let wrong = order.apply(error).prefix(width, table.directory_bits);
                    wrong.count_ones() <= table.radius
                };
                prop_assert!(tables.iter().zip(&orders).any(met), "{tables:?} {error:b}");
            }
        }
    }

    #[test]
    fn every_family_finds_errors_wherever_they_are() {
        for (width, k) in [(8, 1), (10, 2), (12, 3), (11, 4)] {
            let families = families(&vec![1.0; width], k);
            assert!(families.len() > k as usize);
            for error in 0u32..1 << width {
                let errors = |key: &Key| {
                    key.bits
                        .iter()
                        .filter(|bit| error >> **bit & 1 == 1)
                        .count()
                };
                let meets = |key: &Key| errors(key) <= key.radius as usize;
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
    fn tables_take_what_their_layout_allows() {
        let bytes = |tables: &[Table], count: u64| -> f64 {
            let directory = |table: &Table| (4u64 << table.directory_bits) as f64 / count as f64;
            let each = |table: &Table| f64::from(table.value_bytes()) + directory(table);
            tables.iter().map(each).sum()
        };
        for sample in [uniform(), skewed()] {
            for count in [1_000_000, 10_000_000, 1_000_000_000] {
                assert!(bytes(&plan(&sample, count, 64, 3, Layout::Compact), count) <= 26.0);
                assert!(bytes(&plan(&sample, count, 64, 3, Layout::Fast), count) <= 72.0);
            }
        }
        let radii = |tables: &[Table]| tables.iter().map(|table| table.radius).collect::<Vec<_>>();
        let compact = plan(&uniform(), 10_000_000, 64, 3, Layout::Compact);
        assert_eq!(radii(&compact), [0; 4]);
        assert_eq!(
            radii(&plan(&skewed(), 10_000_000, 64, 3, Layout::Fast)),
            [0; 10]
        );
    }
}
