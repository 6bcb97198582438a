//! Which tables does a segment of fingerprints get?
//!
//! Cut the bits into m blocks and allow block i to hold up to rᵢ errors. If the sum of (rᵢ + 1)
//! is k + 1, any two fingerprints within k bits have a block with at most rᵢ errors: otherwise
//! there were at least Σ(rᵢ + 1) = k + 1. Table i is sorted with block i leading; a query looks
//! into the bucket of its own block and of each one that differs in at most rᵢ bits, and
//! compares what is there in full. With m = k + 1 all rᵢ are zero (Manku, Jain and Das Sarma,
//! WWW 2007); with fewer tables blocks are longer and their buckets smaller, but there are more
//! to look into (multi-index hashing: Norouzi, Punjani and Fleet, CVPR 2012). For 64 bits, k = 3
//! and ten million fingerprints, three tables of 22, 21 and 21 bits and 23 + 1 + 1 buckets of
//! about five beat four tables of 16 bits and 4 buckets of 153.
//!
//! Only the first d bits of a block name a bucket. Errors behind them do not matter, so d, too,
//! is a choice between more and larger buckets.

use super::Layout;
use super::permutation::{Permutation, Value};

/// The most bits that name a bucket: a directory of 64 MiB.
pub const MOST_DIRECTORY_BITS: u32 = 24;
/// The most tables of a segment.
pub const MOST_TABLES: u32 = 12;
/// Tables of the compact layout.
const COMPACT_TABLES: u32 = 3;

/// Nanoseconds of a search outside the cache.
pub mod cost {
    /// To find a bucket.
    pub const BUCKET: f64 = 14.0;
    /// To compare a fingerprint in it.
    pub const COMPARISON: f64 = 0.25;
}

/// Buckets beyond so many are not worth listing.
const MOST_BUCKETS: f64 = 4096.0;

/// One table of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// By how much reordered fingerprints are rotated, so that the table's block leads.
    pub rotation: u32,
    /// How many errors its block may hold.
    pub radius: u32,
    /// How many leading bits name a bucket.
    pub directory_bits: u32,
}

/// The order of the bits and the tables of a segment.
#[derive(Clone, Debug)]
pub struct Plan<F> {
    /// The order in which bits are stored.
    pub permutation: Permutation<F>,
    /// At least one.
    pub tables: Vec<Table>,
}

/// Chooses tables for about `count` fingerprints that look like `sample`, of `width` bits, to be
/// found within `k`.
///
/// Whatever is chosen, everything within `k` is found; the sample decides only how fast.
pub fn plan<F: Value>(sample: &[F], count: u64, width: u32, k: u32, layout: Layout) -> Plan<F> {
    let entropies = entropies(sample, width);
    let most = match layout {
        Layout::Fast => MOST_TABLES,
        Layout::Compact => COMPACT_TABLES,
    };
    let most = most.min(k.saturating_add(1)).min(width);
    let choose = |tables| {
        // A directory takes at most a quarter of its table of 64 bits; a sixteenth, where more
        // would make a compact segment too large.
        let spared = match (layout, tables) {
            (Layout::Compact, COMPACT_TABLES) => 3,
            _ => 1,
        };
        let bits = count.max(1).ilog2().saturating_sub(spared);
        let bits = bits.min(MOST_DIRECTORY_BITS);
        choose(&entropies, count, k.min(width), tables, bits)
    };
    let cheapest = (1..=most)
        .map(choose)
        .min_by(|a, b| a.cost.total_cmp(&b.cost));
    let chosen = cheapest.unwrap_or_else(|| choose(1));
    let permutation = Permutation::new(&chosen.order);
    Plan {
        permutation: permutation.expect("every bit is dealt to one block"),
        tables: chosen.tables,
    }
}

struct Choice {
    order: Vec<u8>,
    tables: Vec<Table>,
    cost: f64,
}

fn choose(entropies: &[f64], count: u64, k: u32, tables: u32, most_bits: u32) -> Choice {
    let blocks = deal(entropies, tables);
    let mut choice = Choice {
        order: Vec::new(),
        tables: Vec::new(),
        cost: 0.0,
    };
    for (number, block) in (0..).zip(&blocks) {
        // k + 1 is dealt out evenly; the first blocks get what is over.
        let share = (k + 1) / tables + u32::from(number < (k + 1) % tables);
        let radius = share.saturating_sub(1);
        let mut best = (0, f64::INFINITY);
        for bits in 0..=most_bits.min(block.len() as u32) {
            let named = &block[..bits as usize];
            let entropy: f64 = named.iter().map(|bit| entropies[usize::from(*bit)]).sum();
            let candidates = count as f64 * (-entropy).exp2();
            let buckets = ball(bits, radius);
            let time = buckets * (cost::BUCKET + cost::COMPARISON * candidates);
            if time < best.1 && buckets <= MOST_BUCKETS {
                best = (bits, time);
            }
        }
        let rotation = choice.order.len() as u32;
        choice.tables.push(Table {
            rotation,
            radius,
            directory_bits: best.0,
        });
        choice.cost += best.1;
        choice.order.extend(block);
    }
    choice
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
    order.sort_by(|a, b| entropies[usize::from(*b)].total_cmp(&entropies[usize::from(*a)]));
    let mut blocks = vec![(0f64, Vec::new()); count as usize];
    for bit in order {
        if let Some(least) = blocks.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)) {
            least.0 += entropies[usize::from(bit)];
            least.1.push(bit);
        }
    }
    blocks.into_iter().map(|(_, bits)| bits).collect()
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

    #[test]
    fn radii_add_up_and_blocks_are_disjoint() {
        let sample: Vec<u64> = (0..500u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        for (width, count) in [(64, 10_000_000), (32, 1000), (7, 50), (64, 0)] {
            for k in [0, 1, 3, 6, 20, 64] {
                for layout in [Layout::Fast, Layout::Compact] {
                    let Plan {
                        permutation,
                        tables,
                    } = plan(&sample, count, width, k, layout);
                    assert_eq!(permutation.width(), width);
                    let sum: u32 = tables.iter().map(|table| table.radius + 1).sum();
                    assert!(sum > k.min(width), "{tables:?}");
                    for (i, table) in tables.iter().enumerate() {
                        let end = tables.get(i + 1).map_or(width, |next| next.rotation);
                        assert!(table.rotation + table.directory_bits <= end, "{tables:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn ten_million_at_three_bits_take_three_tables() {
        let sample: Vec<u64> = (0..5000u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let tables = plan(&sample, 10_000_000, 64, 3, Layout::Compact).tables;
        assert_eq!(
            tables.iter().map(|table| table.radius).collect::<Vec<_>>(),
            [1, 0, 0]
        );
        let directories = tables.iter().map(|table| 4 << table.directory_bits);
        assert!(directories.sum::<u64>() < 2 * 10_000_000);
    }
}
