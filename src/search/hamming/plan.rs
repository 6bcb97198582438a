use super::sample::{Sample, distinct};
use super::tables::key_bits;
use super::{Fingerprint, blocks, limits};
use crate::Result;
use crate::kernel::hamming::Near;

/// How to search; every way finds the same.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Compare each query with every fingerprint.
    BruteForce,
    /// Compare it with those that agree in some key: a table for each choice of `blocks` - k
    /// of `blocks` blocks. `blocks` is more than k; k + 1 gives k + 1 tables, more blocks give
    /// more tables and fewer candidates.
    Tables {
        /// Into how many blocks the bits are dealt.
        blocks: u32,
    },
    /// Collapse equal fingerprints first, then search the distinct ones.
    Groups {
        /// With tables of so many blocks, or by brute force.
        blocks: Option<u32>,
    },
}

/// What [`plan`] chose, and what it expects.
///
/// Estimates for people, and for a choice that does not change any answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The cheapest strategy within the memory bound.
    pub strategy: Strategy,
    /// How many hits a query like the searched fingerprints has: at least the accidental ones
    /// of uniform bits, `n * Σ_{i≤k} C(width, i) / 2^width`.
    pub hits_per_query: f64,
    /// With how many fingerprints a query is compared.
    pub candidates_per_query: f64,
    /// What [`Index::bytes`](super::Index::bytes) will be.
    pub bytes: usize,
    /// Time to build and to search every query, on one core of the machine on which the
    /// costs were measured.
    pub seconds: f64,
}

/// Measured costs in nanoseconds on one core, per 64 bits of fingerprint where it matters.
mod cost {
    /// One comparison in a query tile, from the cache and from memory.
    pub const COMPARE: [f64; 2] = [0.05, 0.12];
    /// One comparison in a bucket.
    pub const CANDIDATE: f64 = 0.12;
    /// One look into a table, from the cache and from memory.
    pub const PROBE: [f64; 2] = [16.0, 60.0];
    /// One hit, found in position order or to be sorted, and as a member of a group.
    pub const HIT: f64 = 1.5;
    pub const UNSORTED_HIT: f64 = 12.0;
    pub const MEMBER: f64 = 2.5;
    /// One fingerprint put into a table, from the cache and from memory; put into its group.
    pub const INSERT: [f64; 2] = [4.0, 12.0];
    pub const GROUP: f64 = 60.0;
}

/// What is assumed to fit into the cache, in bytes.
const CACHE: f64 = 16e6;

/// Work too little to think about, in comparisons.
const SMALL: u128 = 1 << 22;

/// Blocks beyond k + 1 that are tried.
const MORE_BLOCKS: u32 = 4;

/// Chooses the strategy for `queries` searches, by cost, whose index takes at most
/// `memory_bytes`; brute force takes none and is always possible.
///
/// Costs come from a sample of the fingerprints: how often two of them agree in a key, how
/// often they are near, how many are distinct. Queries are taken to resemble them. Takes some
/// milliseconds and one reading of `fingerprints`; deterministic. Small jobs (4 million
/// comparisons) are brute force unless k or the width make everything match.
///
/// # Errors
/// Those of [`Index::build`](super::Index::build) for `width` and the number of fingerprints.
pub fn plan<F: Fingerprint>(
    fingerprints: &[F],
    queries: usize,
    width: u32,
    k: u32,
    memory_bytes: usize,
) -> Result<Plan> {
    let near = limits::near::<F>(width, k)?;
    limits::positions(0, fingerprints.len())?;
    let sample = Sample::of(fingerprints, near);
    let job = Job {
        count: fingerprints.len(),
        distinct: distinct(fingerprints, near),
        queries: queries as f64,
        hits: sample.nearness(near) * fingerprints.len() as f64,
        near,
        sample,
    };
    let mut best = job.estimate(Strategy::BruteForce, &[]);
    let small = fingerprints.len() as u128 * queries as u128 <= SMALL;
    if small || near.k >= width && job.distinct == job.count {
        return Ok(best);
    }
    let mut consider = |strategy, keys: &[F]| {
        let plan = job.estimate(strategy, keys);
        if plan.bytes <= memory_bytes && plan.seconds < best.seconds {
            best = plan;
        }
    };
    consider(Strategy::Groups { blocks: None }, &[]);
    for blocks in near.k + 1..=(near.k + 1 + MORE_BLOCKS).min(width) {
        if limits::blocks(blocks, near.k).is_ok() {
            let keys = blocks::keys(&job.sample, width, near.k, blocks);
            consider(Strategy::Tables { blocks }, &keys);
            consider(
                Strategy::Groups {
                    blocks: Some(blocks),
                },
                &keys,
            );
        }
    }
    Ok(best)
}

struct Job<F> {
    count: usize,
    distinct: usize,
    queries: f64,
    /// Per query.
    hits: f64,
    near: Near<F>,
    sample: Sample<F>,
}

impl<F: Fingerprint> Job<F> {
    fn estimate(&self, strategy: Strategy, keys: &[F]) -> Plan {
        let (grouped, tables) = match strategy {
            Strategy::BruteForce => (false, false),
            Strategy::Tables { .. } => (false, true),
            Strategy::Groups { blocks } => (true, blocks.is_some()),
        };
        let searched = if grouped { self.distinct } else { self.count };
        // Groups hold a share of the hits, about as many members each as all groups do.
        let found = self.hits * searched as f64 / (self.count as f64).max(1.0);
        let (mut bytes, mut build, mut search, candidates) = if tables {
            self.tables(searched, found, keys)
        } else {
            let compare =
                size_of::<F>() as f64 / 8.0 * tier(cost::COMPARE, searched * size_of::<F>());
            (
                0,
                0.0,
                searched as f64 * compare + found * cost::HIT,
                searched as f64,
            )
        };
        if grouped {
            bytes += 4 * self.count + searched * (size_of::<F>() + 4);
            build += self.count as f64 * cost::GROUP;
            search += self.hits * cost::MEMBER;
        }
        Plan {
            strategy,
            hits_per_query: self.hits,
            candidates_per_query: candidates,
            bytes,
            seconds: (build + self.queries * search) * 1e-9,
        }
    }

    /// Bytes, nanoseconds to build and per query, and candidates.
    fn tables(&self, searched: usize, found: f64, keys: &[F]) -> (usize, f64, f64, f64) {
        let size = size_of::<F>() as f64 / 8.0;
        // Groups have no equal members: what agrees there agrees in the key alone.
        let equal = if searched < self.count {
            self.sample.agreement(self.near.mask)
        } else {
            0.0
        };
        let (mut bytes, mut candidates) = (0, 0.0);
        for key in keys {
            let bits = key.count_ones().min(key_bits(searched));
            bytes += searched * (size_of::<F>() + 4) + (4 << bits);
            let mixed = f64::from(bits).exp2().recip();
            let agreeing = (self.sample.agreement(*key) - equal).max(0.0);
            candidates += searched as f64 * agreeing.max(mixed);
        }
        let probes = keys.len() as f64;
        let insert = size * tier(cost::INSERT, bytes / keys.len().max(1));
        let search = probes * tier(cost::PROBE, bytes)
            + candidates * size * cost::CANDIDATE
            + found * cost::UNSORTED_HIT;
        (bytes, probes * searched as f64 * insert, search, candidates)
    }
}

/// The cost of something done in `bytes` of memory, given those in the cache and far beyond.
fn tier([cached, far]: [f64; 2], bytes: usize) -> f64 {
    let missing = (1.0 - CACHE / (bytes as f64).max(CACHE)).max(0.0);
    cached + (far - cached) * missing
}
