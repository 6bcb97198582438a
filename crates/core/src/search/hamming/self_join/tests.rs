use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::plan::Costs;
use super::*;
use crate::kernel::Level;
use crate::search::hamming::{Fingerprint, GroupedIndex, HammingScratch, U256};
use crate::{Error, ErrorKind, Result};

/// Never stops a join.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn reached(&self, share: f64) -> Result<()> {
        assert!((0.0..=1.0).contains(&share), "{share}");
        Ok(())
    }
}

/// Divides even a few fingerprints, as often as the bits allow, and never has memory for more than
/// `fitting`.
fn eager(fitting: usize) -> Costs {
    Costs {
        compare: 1.0,
        bucket: 0.5,
        split: 0.0,
        large: 3,
        fitting,
        few: 5,
    }
}

/// All pairs, once for each time that they are reported.
fn pairs<F: Fingerprint>(join: &SelfJoin<'_, F, [F]>) -> Vec<Near> {
    let found = Mutex::new(Vec::new());
    join.pairs(&Unwatched, &|near| found.lock().unwrap().push(near))
        .unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    found
}

/// The pairs by definition, those of equal fingerprints only with the first of them.
fn expected<F: Fingerprint>(of: &[F], width: u32, k: u32) -> Vec<Near> {
    let mask = F::low_bits(width);
    let masked: Vec<F> = of.iter().map(|value| *value & mask).collect();
    let is_first = |position: usize| !masked[..position].contains(&masked[position]);
    let firsts: Vec<bool> = (0..of.len()).map(is_first).collect();
    let mut pairs = Vec::new();
    for b in 0..of.len() {
        for a in (0..b).filter(|a| firsts[*a]) {
            let distance = masked[a].distance(masked[b]);
            if distance == 0 || firsts[b] && distance <= k {
                pairs.push(Near {
                    positions: [a as u32, b as u32],
                    distance,
                });
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// The positions that have a neighbour, by definition.
fn having_any<F: Fingerprint>(of: &[F], width: u32, k: u32) -> BTreeSet<u32> {
    let mask = F::low_bits(width);
    let near = |a: usize, b: usize| a != b && (of[a] & mask).distance(of[b] & mask) <= k;
    let has_any = |a: &usize| (0..of.len()).any(|b| near(*a, b));
    (0..of.len()).filter(has_any).map(|a| a as u32).collect()
}

fn check<F: Fingerprint>(of: &[F], width: u32, k: u32, costs: Costs, level: Level) {
    let mut join = SelfJoin::new(of, width, k, 0, level).unwrap();
    join.costs = costs;
    assert_eq!(pairs(&join), expected(of, width, k), "{width} bits, k {k}");
    let marks = join.any(&Unwatched).unwrap();
    let found: BTreeSet<u32> = (0..of.len() as u32)
        .filter(|&position| marks.contains(position))
        .collect();
    assert_eq!(found, having_any(of, width, k), "{width} bits, k {k}");
}

/// SplitMix64: a case is its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn fingerprint<F: Fingerprint>(&mut self, is_one: impl Fn(u32, u64) -> bool) -> F {
        let bits = (0..F::BITS).filter(|&bit| is_one(bit, self.next() % 1000));
        bits.fold(F::default(), |all, bit| all | F::bit(bit))
    }
}

/// How the fingerprints of a case are distributed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    Uniform,
    /// Bit j is set in 2 % to 99 % of them.
    Skewed,
    /// Most differ from others in few bits, or in none.
    Clustered,
    /// Each differs in one bit from the one before it.
    Chain,
    /// A template: only 12 bits differ.
    Template,
}

pub(super) fn draw<F: Fingerprint>(spread: Spread, count: usize, seed: u64) -> Vec<F> {
    let mut random = Random(seed);
    let uniform = |_, number| number < 500;
    let mut all: Vec<F> = Vec::new();
    for number in 0..count {
        let other = all.get(random.next() as usize % number.max(1)).copied();
        let flipped = |random: &mut Random, value: F, most: u64| {
            let flips = random.next() % most;
            (0..flips).fold(value, |value, _| {
                value ^ F::bit((random.next() % u64::from(F::BITS)) as u32)
            })
        };
        let next = match (spread, other) {
            (Spread::Skewed, _) => random
                .fingerprint(|bit, number| number < 20 + u64::from(bit) * 970 / u64::from(F::BITS)),
            (Spread::Clustered, Some(other)) if !random.next().is_multiple_of(4) => {
                flipped(&mut random, other, 6)
            }
            (Spread::Chain, Some(_)) => flipped(&mut random, all[number - 1], 2),
            (Spread::Template, _) => {
                random.fingerprint(|bit, number| bit % (F::BITS / 12) == 0 && number < 500)
            }
            _ => random.fingerprint(uniform),
        };
        all.push(next);
    }
    all
}

fn spreads() -> impl Strategy<Value = Spread> {
    prop::sample::select(vec![
        Spread::Uniform,
        Spread::Skewed,
        Spread::Clustered,
        Spread::Chain,
        Spread::Template,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Promise (Deduplication): The join of fingerprints with themselves finds every near pair
    /// once, for widths up to 256 bits, any spread of bits and any memory
    #[test]
    fn pairs_are_those_of_brute_force(
        spread in spreads(),
        count in 0usize..120,
        seed in any::<u64>(),
        k in 0u32..10,
        fitting in 1usize..150,
        level in prop::sample::select(Level::available().collect::<Vec<_>>()),
    ) {
        for width in [32, 64] {
            check::<u64>(&draw(spread, count, seed), width, k, eager(fitting), level);
        }
        check::<u128>(&draw(spread, count, seed), 128, k, eager(fitting), level);
        check::<U256>(&draw(spread, count, seed), 256, k, eager(fitting), level);
    }

    /// Promise (Deduplication): The join of fingerprints with themselves …
    #[test]
    fn every_distance_of_a_few_bits(
        count in 0usize..100,
        seed in any::<u64>(),
        width in 1u32..=9,
        fitting in 1usize..150,
    ) {
        for k in 0..=width + 1 {
            let of = draw::<u64>(Spread::Uniform, count, seed);
            check(&of, width, k, eager(fitting), Level::best());
        }
    }

    #[test]
    fn other_widths(
        spread in spreads(),
        count in 0usize..60,
        seed in any::<u64>(),
        width in 1u32..=256,
        k in 0u32..12,
    ) {
        check::<u64>(&draw(spread, count, seed), width.min(64), k, eager(20), Level::best());
        check::<u128>(&draw(spread, count, seed), width.min(128), k, eager(20), Level::best());
        check::<U256>(&draw(spread, count, seed), width, k, eager(20), Level::best());
    }
}

/// The number of pairs of an index, counted like those of a join; the positions with a neighbour.
pub(super) fn by_index<F: Fingerprint>(of: &[F], width: u32, k: u32) -> (u64, Vec<bool>) {
    let index = GroupedIndex::build(of, width, k, Some(k + 1), Level::best()).unwrap();
    let (mut near, mut any) = (0, Vec::new());
    let except: Vec<Option<u32>> = (0..of.len() as u32).map(Some).collect();
    index.any_batch(of, &except, &mut HammingScratch::default(), &mut any);
    let mut firsts = Vec::new();
    let mut group = 0;
    let mut start = 0;
    while start < of.len() {
        let range = index.group(group);
        near += range.len() as u64 - 1;
        firsts.push(of[index.positions()[range.start] as usize]);
        (group, start) = (group + 1, range.end);
    }
    let mut ordered = 0;
    index.search_batch(&firsts, &mut HammingScratch::default(), |_, hits| {
        ordered += hits.len() as u64 - 1;
    });
    (near + ordered / 2, any)
}

/// Pages of one template: without new divisions, all pairs would be compared.
#[test]
fn a_large_bucket_is_divided_again() {
    let mut random = Random(3);
    // 40 bits are the same; the others are uniform.
    let template: Vec<u64> = (0..60_000).map(|_| random.next() << 40 | 0xA5).collect();
    let (expected, _) = by_index(&template, 64, 2);
    let pairs = AtomicU64::new(0);
    let join = SelfJoin::new(&template[..], 64, 2, 1 << 30, Level::best()).unwrap();
    join.pairs(&Unwatched, &|_| {
        pairs.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(pairs.into_inner(), expected);
}

#[test]
fn an_error_of_the_watch_stops_the_join() {
    struct Stops(AtomicU64);
    impl Watch for Stops {
        fn reached(&self, _: f64) -> Result<()> {
            match self.0.fetch_sub(1, Ordering::Relaxed) {
                0 => Err(Error::new(ErrorKind::Interrupted, "stop")),
                _ => Ok(()),
            }
        }
    }
    let of = draw::<u64>(Spread::Clustered, 50_000, 1);
    let join = SelfJoin::new(&of[..], 64, 3, 1 << 30, Level::best()).unwrap();
    for after in [0, 1, 5, 50] {
        let error = join.any(&Stops(AtomicU64::new(after))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

#[test]
fn a_width_of_no_bits_is_an_error() {
    let error = SelfJoin::new(&[1u64][..], 0, 3, 0, Level::best()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
}
