//! The division of the bits into blocks, by estimated cost.

use super::super::Fingerprint;
use super::super::blocks::{divide, entropies, mask};
use super::super::sample::FingerprintSample;
use super::path::Blocks;

/// What determines how fingerprints are divided; answers do not depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Nanoseconds of one comparison of 64 bits within a bucket.
    pub(super) compare: f64,
    /// Nanoseconds of each fingerprint of a bucket that is compared, besides the comparisons.
    pub(super) bucket: f64,
    /// Nanoseconds of each fingerprint that is moved to its bucket.
    pub(super) split: f64,
    /// The least fingerprints that agree in enough blocks and are divided once more: for fewer,
    /// planning takes as long as comparing them.
    pub(super) large: usize,
    /// The minimum number of fingerprints that fit into the memory of a thread.
    pub(super) fitting: usize,
    /// The most fingerprints of which all pairs are compared although one neighbour of each would
    /// do.
    pub(super) few: usize,
}

impl Costs {
    /// Measured on one core.
    pub(super) const MEASURED: Costs = Costs {
        compare: 0.06,
        bucket: 3.0,
        split: 5.0,
        large: 1 << 13,
        fitting: 1 << 14,
        few: 256,
    };

    /// Whether it is cheaper to compare all pairs of a bucket of `count` than to divide it by each
    /// of `blocks` blocks.
    pub(super) fn is_small<F>(&self, count: usize, blocks: usize) -> bool {
        self.pairs::<F>(count as f64) <= blocks as f64 * self.split
    }

    /// Nanoseconds to compare a fingerprint of a bucket of `count` with the others, each pair once.
    fn pairs<F>(&self, count: f64) -> f64 {
        count / 2.0 * self.compare * (size_of::<F>() / 8) as f64
    }
}

/// The most bits of a key: the buckets that are filled at the same time stay in the cache.
pub(super) const KEY_BITS: u32 = 12;
/// The maximum number of blocks beyond k that are tried.
const MORE_BLOCKS: u32 = 6;
/// The maximum number of blocks: their choices are bits of a word.
const MAX_BLOCKS: u32 = 64;
/// The maximum number of choices of as many blocks whose agreement is measured.
const MEASURED: u32 = 4;
/// A division must save this share of the time of comparing all pairs.
const SAVED: f64 = 0.25;

/// The cheapest division of `bits` for `count` fingerprints, of which some are known; `None` if it
/// is as cheap to compare all pairs.
///
/// Takes some milliseconds for a full sample.
pub(super) fn plan<F: Fingerprint>(
    sample: &FingerprintSample<F>,
    bits: F,
    k: u32,
    count: usize,
    costs: &Costs,
) -> Option<Blocks<F>> {
    let all: Vec<u8> = (0..F::BITS)
        .filter(|&bit| bits & F::bit(bit) != F::default())
        .map(|bit| bit as u8)
        .collect();
    let each = entropies(&sample.values, F::BITS);
    let of_bits: Vec<f64> = all.iter().map(|bit| each[usize::from(*bit)]).collect();
    let mut best = (costs.pairs::<F>(count as f64) * (1.0 - SAVED), None);
    let most = (k + MORE_BLOCKS).min(all.len() as u32).min(MAX_BLOCKS);
    for blocks in k + 1..=most {
        let of_block = |bits: &Vec<u8>| {
            let bits: Vec<u8> = bits.iter().map(|&bit| all[usize::from(bit)]).collect();
            mask::<F>(&bits)
        };
        let masks: Vec<F> = divide(&of_bits, blocks).iter().map(of_block).collect();
        let time = estimate(sample, &masks, k, count, costs);
        if time < best.0 {
            best = (time, Some(masks));
        }
    }
    best.1.map(|masks| Blocks { masks, k })
}

/// Nanoseconds for each of `count` fingerprints, if those of a bucket are divided until comparing
/// them is cheaper.
fn estimate<F: Fingerprint>(
    sample: &FingerprintSample<F>,
    masks: &[F],
    k: u32,
    count: usize,
    costs: &Costs,
) -> f64 {
    let blocks = masks.len() as u32;
    // The buckets that a fingerprint is in at a depth, and the fingerprints of one.
    let (mut buckets, mut size, mut time) = (1.0, count as f64, 0.0);
    for depth in 0.. {
        let children = f64::from(k + depth + 1) / f64::from(depth + 1);
        if depth == blocks - k || costs.pairs::<F>(size) <= children * costs.split {
            break;
        }
        buckets *= children;
        time += buckets * costs.split;
        size = count as f64 * agreement(sample, masks, depth + 1);
    }
    time + buckets * (costs.bucket + costs.pairs::<F>(size))
}

/// The average probability that two fingerprints share the buckets of `chosen` blocks.
fn agreement<F: Fingerprint>(sample: &FingerprintSample<F>, masks: &[F], chosen: u32) -> f64 {
    let last = masks.len() as u32 - chosen;
    let measured = MEASURED.min(last + 1);
    let of_choice = |number: u32| {
        let first = number * last / (measured - 1).max(1);
        let masks = masks[first as usize..].iter().take(chosen as usize);
        sample.agreement(masks.fold(F::default(), |all, mask| all | *mask))
    };
    let average = (0..measured).map(of_choice).sum::<f64>() / f64::from(measured);
    // A key does not distinguish more.
    average.max(0.5f64.powi((KEY_BITS * chosen) as i32))
}
