//! Speed of Hamming search on uniform fingerprints and on skewed ones like those of real texts.
//! `cargo bench --bench hamming -- NAME`; the sets of 10^7 need 4 GB of memory.
//!
//! Every benchmark first compares the answers of some queries with brute force. Searches run on one
//! thread unless the name contains `join`.

#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use divan::{Bencher, counter::ItemsCount};
use rayon::prelude::*;
use simtool::kernel::Level;
use simtool::search::hamming::{Fingerprint, HammingScratch, Hit, Index, Strategy, plan};

fn main() {
    divan::main();
}

/// Ten million fingerprints; smaller sets are prefixes of this one.
static UNIFORM: LazyLock<Vec<u64>> = LazyLock::new(|| planted(draw(10_000_000, |_| 128)));
/// Bit `j` is set with a probability between 0.02 and 0.99.
static SKEWED: LazyLock<Vec<u64>> =
    LazyLock::new(|| planted(draw(10_000_000, |bit| 5 + bit * 249 / 63)));

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// `count` fingerprints whose bit `j` is set with probability `chance(j)` / 256.
fn draw(count: usize, chance: impl Fn(u64) -> u64 + Sync) -> Vec<u64> {
    let random = |a: u64, b: u64, c: u64| mix(mix(mix(a) ^ b) ^ c << 32);
    // 64 fingerprints at a time, one bit of all of them, from eight random words.
    let column = |block: u64, bit: u64| {
        let chance = chance(bit);
        (0..8).fold(0, |word, place| match chance >> place & 1 {
            1 => word | random(block, bit, place),
            _ => word & random(block, bit, place),
        })
    };
    let blocks = (0..count.div_ceil(64) as u64).into_par_iter();
    let mut fingerprints: Vec<u64> = blocks
        .flat_map_iter(|block| {
            let columns: Vec<u64> = (0..64).map(|bit| column(block, bit)).collect();
            (0..64).map(move |row| {
                columns
                    .iter()
                    .zip(0..)
                    .fold(0, |bits, (column, bit)| bits | (column >> row & 1) << bit)
            })
        })
        .collect();
    fingerprints.truncate(count);
    fingerprints
}

/// Makes every tenth fingerprint a neighbour, 0 to 3 bits away, of an earlier one.
fn planted(mut fingerprints: Vec<u64>) -> Vec<u64> {
    for i in (10..fingerprints.len()).step_by(10) {
        let random = mix(i as u64);
        let errors =
            (0..random % 4).fold(0, |errors, e| errors | 1 << (random >> (8 + 6 * e) & 63));
        fingerprints[i] = fingerprints[(random >> 32) as usize % i] ^ errors;
    }
    fingerprints
}

/// Builds the planned index and compares a few answers with brute force.
fn checked<'a>(
    fingerprints: &'a [u64],
    queries: &[u64],
    width: u32,
    strategy: Strategy,
) -> Index<'a, u64> {
    let index = Index::build(fingerprints, width, 3, strategy, Level::best()).unwrap();
    let oracle = Index::build(fingerprints, width, 3, Strategy::BruteForce, Level::Scalar).unwrap();
    let mut scratch = HammingScratch::default();
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for query in queries.iter().take(8) {
        index.search(*query, &mut scratch, &mut found);
        oracle.search(*query, &mut scratch, &mut expected);
        assert_eq!(found, expected);
    }
    index
}

/// The number of hits of all queries.
fn search_all<F: Fingerprint>(
    index: &Index<'_, F>,
    queries: &[F],
    scratch: &mut HammingScratch,
) -> usize {
    let mut count = 0;
    index.search_batch(queries, scratch, |_, hits: &[Hit]| count += hits.len());
    count
}

/// Comparisons per second of a query tile.
#[divan::bench(args = Level::available(), sample_count = 5)]
fn brute_force_64(bencher: Bencher, level: Level) {
    let fingerprints = &UNIFORM[..1_000_000];
    brute_force(bencher, level, fingerprints, &UNIFORM[1_000_000..1_000_064]);
}

#[divan::bench(args = Level::available(), sample_count = 5)]
fn brute_force_128(bencher: Bencher, level: Level) {
    let wide = |pair: &[u64]| u128::from(pair[0]) << 64 | u128::from(pair[1]);
    let fingerprints: Vec<u128> = UNIFORM[..2_000_128].chunks(2).map(wide).collect();
    brute_force(
        bencher,
        level,
        &fingerprints[..1_000_000],
        &fingerprints[1_000_000..],
    );
}

fn brute_force<F: Fingerprint>(bencher: Bencher, level: Level, fingerprints: &[F], queries: &[F]) {
    let index = Index::build(fingerprints, F::BITS, 3, Strategy::BruteForce, level).unwrap();
    bencher
        .counter(ItemsCount::new(fingerprints.len() * queries.len()))
        .with_inputs(HammingScratch::default)
        .bench_refs(|scratch| search_all(&index, queries, scratch));
}

const STRATEGIES: [Option<Strategy>; 5] = [
    None,
    Some(Strategy::Tables { blocks: 4 }),
    Some(Strategy::Tables { blocks: 5 }),
    Some(Strategy::Tables { blocks: 6 }),
    Some(Strategy::Groups { blocks: Some(4) }),
];

/// Queries per second with k = 3: the planned strategy (`None`) and all others.
#[divan::bench(args = STRATEGIES, consts = [1_000_000, 10_000_000], sample_count = 5)]
fn tables_uniform<const N: usize>(bencher: Bencher, strategy: Option<Strategy>) {
    queries(bencher, &UNIFORM, N, strategy);
}

#[divan::bench(args = STRATEGIES, consts = [1_000_000, 10_000_000], sample_count = 5)]
fn tables_skewed<const N: usize>(bencher: Bencher, strategy: Option<Strategy>) {
    queries(bencher, &SKEWED, N, strategy);
}

fn queries(bencher: Bencher, set: &[u64], count: usize, strategy: Option<Strategy>) {
    let fingerprints = &set[..count];
    // Every second query is a member; the others are two bits away from one.
    let step = count / 50_000;
    let mut queries: Vec<u64> = fingerprints.iter().step_by(step).copied().collect();
    for (i, query) in queries.iter_mut().enumerate().filter(|(i, _)| i % 2 == 1) {
        *query ^= 1 << (i % 64) | 1 << (i % 61);
    }
    let plan = plan(fingerprints, 10_000_000, 64, 3, 3 << 30).unwrap();
    let index = checked(
        fingerprints,
        &queries,
        64,
        strategy.unwrap_or(plan.strategy),
    );
    bencher
        .counter(ItemsCount::new(queries.len()))
        .with_inputs(HammingScratch::default)
        .bench_refs(|scratch| search_all(&index, &queries, scratch));
}

/// Building the index.
#[divan::bench(args = STRATEGIES, consts = [1_000_000, 10_000_000], sample_count = 3)]
fn build<const N: usize>(bencher: Bencher, strategy: Option<Strategy>) {
    let fingerprints = &UNIFORM[..N];
    bencher.counter(ItemsCount::new(N)).bench(|| {
        let planned = || plan(fingerprints, N, 64, 3, 3 << 30).unwrap().strategy;
        let strategy = strategy.unwrap_or_else(planned);
        Index::build(fingerprints, 64, 3, strategy, Level::best())
            .unwrap()
            .bytes()
    });
}

/// 10 000 samples against 300 000 articles on all cores, plan and build included.
#[divan::bench(args = [(16, false), (16, true), (32, false), (32, true), (64, false), (64, true)], sample_count = 5)]
fn join(bencher: Bencher, (width, skewed): (u32, bool)) {
    let set = if skewed { &SKEWED } else { &UNIFORM };
    // The bits of a narrow fingerprint cover the whole range of probabilities.
    let narrow =
        |bits: &u64| (0..width).fold(0, |out, i| out | (bits >> (i * 64 / width) & 1) << i);
    let narrowed: Vec<u64> = set[..310_000].par_iter().map(narrow).collect();
    let (articles, samples) = narrowed.split_at(300_000);
    let strategy = plan(articles, samples.len(), width, 3, 1 << 30)
        .unwrap()
        .strategy;
    checked(articles, samples, width, strategy);
    bencher.counter(ItemsCount::new(samples.len())).bench(|| {
        let strategy = plan(articles, samples.len(), width, 3, 1 << 30)
            .unwrap()
            .strategy;
        let index = Index::build(articles, width, 3, strategy, Level::best()).unwrap();
        let batches = samples.par_chunks(64);
        batches
            .map_init(HammingScratch::default, |scratch, batch| {
                search_all(&index, batch, scratch)
            })
            .sum::<usize>()
    });
}
