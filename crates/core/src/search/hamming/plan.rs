//! The choice of a search strategy by estimated cost.

use super::sample::{FingerprintSample, distinct};
use super::tables::key_bits;
use super::{Fingerprint, blocks, limits};
use crate::Result;

/// A search strategy; all strategies find the same hits.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Compare each query with every fingerprint.
    BruteForce,
    /// Compare each query with the fingerprints that agree in some key, with a table for each
    /// choice of `blocks` - k of `blocks` blocks. `blocks` exceeds k: k + 1 gives k + 1 tables;
    /// more blocks give more tables and fewer candidates.
    Tables {
        /// The number of blocks.
        blocks: u32,
    },
    /// Collapse equal fingerprints first, then search the distinct ones.
    Groups {
        /// The number of blocks of the tables; `None` for brute force.
        blocks: Option<u32>,
    },
}

impl Strategy {
    /// Whether equal fingerprints are collapsed, and the number of blocks of the tables if any.
    pub(crate) fn parts(self) -> (bool, Option<u32>) {
        match self {
            Strategy::BruteForce => (false, None),
            Strategy::Tables { blocks } => (false, Some(blocks)),
            Strategy::Groups { blocks } => (true, blocks),
        }
    }
}

/// The strategy that [`plan`] chose, and its estimates.
///
/// The estimates guide the choice of a strategy, which does not change any answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest strategy within the memory bound.
    pub strategy: Strategy,
    /// The expected number of hits of a query distributed like the searched fingerprints: at least
    /// that of uniform bits, `n * Σ_{i≤k} C(width, i) / 2^width`.
    pub hits_per_query: f64,
    /// The expected number of fingerprints with which a query is compared.
    pub candidates_per_query: f64,
    /// The expected value of [`Index::bytes`](super::Index::bytes).
    pub bytes: usize,
    /// The time to build the index and to search every query, on one core of the machine on which
    /// the costs were measured.
    pub seconds: f64,
}

/// Measured costs in nanoseconds on one core. Comparisons, candidates and insertions are per 64
/// bits of fingerprint.
mod cost {
    /// One comparison in a query tile, from the cache and from memory.
    pub const COMPARE: [f64; 2] = [0.035, 0.1];
    /// One comparison in a bucket, from the cache and from memory.
    pub const CANDIDATE: [f64; 2] = [0.1, 0.4];
    /// One table lookup, from the cache and from memory.
    pub const PROBE: [f64; 2] = [18.0, 60.0];
    /// Eight fingerprints with a hit for some query of the tile; the additional cost of each hit.
    pub const STEP: f64 = 2.7;
    pub const HIT: f64 = 0.8;
    /// One hit of a table.
    pub const UNSORTED_HIT: f64 = 20.0;
    /// One group found; one member of it.
    pub const FOUND_GROUP: f64 = 20.0;
    pub const MEMBER: f64 = 2.5;
    /// One fingerprint inserted into a table, from the cache and from memory; one added to its
    /// group.
    pub const INSERT: [f64; 2] = [12.0, 30.0];
    pub const GROUP: f64 = 60.0;
}

/// The assumed cache size in bytes.
const CACHE: f64 = 16e6;

/// Comparisons below which brute force needs no plan: some milliseconds, which planning also takes.
const SMALL: u128 = 1 << 27;

/// The number of block counts above k + 1 that are tried.
const MORE_BLOCKS: u32 = 4;

/// Chooses the cheapest strategy for `queries` searches whose index takes at most `memory_bytes`.
/// Brute force takes no memory and is always possible.
///
/// Costs are estimated from a sample of the fingerprints: how often two of them agree in a key, how
/// often they are near, how many are distinct. Queries are assumed to have the same distribution.
/// Takes some milliseconds and one pass over `fingerprints`; deterministic. Small jobs (up to 2^27
/// comparisons) use brute force.
///
/// # Errors
/// Errors of [`Index::build`](super::Index::build) for `width` and the number of fingerprints.
pub fn plan<F: Fingerprint>(
    fingerprints: &[F],
    queries: usize,
    width: u32,
    k: u32,
    memory_bytes: usize,
) -> Result<Plan> {
    plan_for(
        fingerprints,
        fingerprints.len(),
        queries,
        width,
        k,
        memory_bytes,
    )
}

/// Like [`plan`], for `count` fingerprints of which only a sample is known.
///
/// # Errors
/// Errors of [`plan`].
pub fn plan_for<F: Fingerprint>(
    fingerprints: &[F],
    count: usize,
    queries: usize,
    width: u32,
    k: u32,
    memory_bytes: usize,
) -> Result<Plan> {
    let threshold = limits::threshold::<F>(width, k)?;
    limits::positions(0, count)?;
    let sample = FingerprintSample::of(fingerprints, threshold);
    let mut job = Job {
        count,
        distinct: count,
        queries: queries as f64,
        nearness: sample.nearness(threshold),
        equality: 0.0,
    };
    let mut best = job.estimate::<F>(Strategy::BruteForce, &[]);
    if count as u128 * queries as u128 <= SMALL {
        return Ok(best);
    }
    let distinct = distinct(fingerprints, threshold) as u128;
    job.distinct = (distinct * count as u128 / fingerprints.len().max(1) as u128) as usize;
    job.equality = sample.agreement(threshold.mask);
    let mut consider = |strategy, keys: &[Agreement]| {
        let plan = job.estimate::<F>(strategy, keys);
        if plan.bytes <= memory_bytes && plan.seconds < best.seconds {
            best = plan;
        }
        best.seconds
    };
    let entropies = blocks::entropies(&sample.values, width);
    let mut seconds = consider(Strategy::Groups { blocks: None }, &[]);
    for blocks in threshold.k + 1..=(threshold.k + 1 + MORE_BLOCKS).min(width) {
        // More blocks mean more lookups: stop when these alone cost too much.
        let lookups = blocks::choose(blocks, threshold.k) as f64 * queries as f64;
        if limits::blocks(blocks, threshold.k).is_err() || lookups * cost::PROBE[0] * 1e-9 > seconds
        {
            break;
        }
        let agreement = |key: F| Agreement {
            bits: key.count_ones(),
            chance: sample.agreement(key),
        };
        let keys = blocks::keys(&entropies, threshold.k, blocks);
        let keys: Vec<Agreement> = keys.into_iter().map(agreement).collect();
        consider(Strategy::Tables { blocks }, &keys);
        seconds = consider(
            Strategy::Groups {
                blocks: Some(blocks),
            },
            &keys,
        );
    }
    Ok(best)
}

/// The number of bits of a key, and the probability that two fingerprints agree in them.
struct Agreement {
    bits: u32,
    chance: f64,
}

struct Job {
    count: usize,
    distinct: usize,
    queries: f64,
    /// The probability that a query and a fingerprint are near.
    nearness: f64,
    /// The probability that they are equal.
    equality: f64,
}

impl Job {
    fn estimate<F: Fingerprint>(&self, strategy: Strategy, keys: &[Agreement]) -> Plan {
        let (grouped, blocks) = strategy.parts();
        let searched = if grouped { self.distinct } else { self.count };
        // Assumes that groups near a query have average size.
        let found = self.nearness * searched as f64;
        let hits = self.nearness * self.count as f64;
        let Cost {
            mut bytes,
            mut build,
            mut search,
            candidates,
        } = if blocks.is_some() {
            self.tables::<F>(searched, found, keys)
        } else {
            self.brute_force::<F>(searched, found)
        };
        if grouped {
            bytes += 4 * self.count + searched * (size_of::<F>() + 4);
            build += self.count as f64 * cost::GROUP;
            search += found * cost::FOUND_GROUP + hits * cost::MEMBER;
        }
        Plan {
            strategy,
            hits_per_query: hits,
            candidates_per_query: candidates,
            bytes,
            seconds: (build + self.queries * search) * 1e-9,
        }
    }

    fn brute_force<F: Fingerprint>(&self, searched: usize, found: f64) -> Cost {
        let compare = words::<F>() * tier(cost::COMPARE, searched * size_of::<F>());
        // For eight fingerprints against eight queries.
        let any_hit = 1.0 - (1.0 - self.nearness).powi(64);
        let steps = searched as f64 / 8.0 * any_hit;
        let search = searched as f64 * compare + steps * cost::STEP + found * cost::HIT;
        Cost {
            bytes: 0,
            build: 0.0,
            search,
            candidates: searched as f64,
        }
    }

    fn tables<F: Fingerprint>(&self, searched: usize, found: f64, keys: &[Agreement]) -> Cost {
        // Distinct fingerprints that share a key are not equal.
        let equality = if searched < self.count {
            self.equality
        } else {
            0.0
        };
        let (mut bytes, mut candidates) = (0, 0.0);
        for key in keys {
            let bits = key.bits.min(key_bits(searched));
            bytes += searched * (size_of::<F>() + 4) + (4 << bits);
            let mixed = f64::from(bits).exp2().recip();
            candidates += searched as f64 * (key.chance - equality).max(mixed);
        }
        let probes = keys.len() as f64;
        let insert = words::<F>() * tier(cost::INSERT, bytes / keys.len().max(1));
        let search = probes * tier(cost::PROBE, bytes)
            + candidates * words::<F>() * tier(cost::CANDIDATE, bytes)
            + found * cost::UNSORTED_HIT;
        Cost {
            bytes,
            build: probes * searched as f64 * insert,
            search,
            candidates,
        }
    }
}

/// Times in nanoseconds: `build` for the index, `search` for each query.
struct Cost {
    bytes: usize,
    build: f64,
    search: f64,
    candidates: f64,
}

/// The size of a fingerprint in 64-bit words.
fn words<F: Fingerprint>() -> f64 {
    f64::from(F::BITS) / 64.0
}

/// The cost of an access to a structure of `bytes`, interpolated between that in the cache and that
/// in memory.
fn tier([in_cache, in_memory]: [f64; 2], bytes: usize) -> f64 {
    let miss_rate = (1.0 - CACHE / (bytes as f64).max(CACHE)).max(0.0);
    in_cache + (in_memory - in_cache) * miss_rate
}
