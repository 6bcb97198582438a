use super::sample::{Sample, distinct};
use super::tables::key_bits;
use super::{Fingerprint, blocks, limits};
use crate::Result;

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
    pub const COMPARE: [f64; 2] = [0.035, 0.1];
    /// One comparison in a bucket, from the cache and from memory.
    pub const CANDIDATE: [f64; 2] = [0.1, 0.4];
    /// One look into a table, from the cache and from memory.
    pub const PROBE: [f64; 2] = [18.0, 60.0];
    /// Eight fingerprints of which one is a hit of a query of the tile; one hit beside that.
    pub const STEP: f64 = 2.7;
    pub const HIT: f64 = 0.8;
    /// One hit of a table.
    pub const UNSORTED_HIT: f64 = 20.0;
    /// One group found, and one member of it.
    pub const FOUND_GROUP: f64 = 20.0;
    pub const MEMBER: f64 = 2.5;
    /// One fingerprint put into a table, from the cache and from memory; put into its group.
    pub const INSERT: [f64; 2] = [12.0, 30.0];
    pub const GROUP: f64 = 60.0;
}

/// What is assumed to fit into the cache, in bytes.
const CACHE: f64 = 16e6;

/// Work too little to think about, in comparisons: some milliseconds, as planning takes.
const SMALL: u128 = 1 << 27;

/// Blocks beyond k + 1 that are tried.
const MORE_BLOCKS: u32 = 4;

/// Chooses the strategy for `queries` searches, by cost, whose index takes at most
/// `memory_bytes`; brute force takes none and is always possible.
///
/// Costs come from a sample of the fingerprints: how often two of them agree in a key, how
/// often they are near, how many are distinct. Queries are taken to resemble them. Takes some
/// milliseconds and one reading of `fingerprints`; deterministic. Small jobs (2^27
/// comparisons) are brute force.
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
    let mut job = Job {
        count: fingerprints.len(),
        distinct: fingerprints.len(),
        queries: queries as f64,
        nearness: sample.nearness(near),
        equality: 0.0,
    };
    let mut best = job.estimate::<F>(Strategy::BruteForce, &[]);
    if fingerprints.len() as u128 * queries as u128 <= SMALL {
        return Ok(best);
    }
    job.distinct = distinct(fingerprints, near);
    job.equality = sample.agreement(near.mask);
    let mut consider = |strategy, keys: &[Agreement]| {
        let plan = job.estimate::<F>(strategy, keys);
        if plan.bytes <= memory_bytes && plan.seconds < best.seconds {
            best = plan;
        }
        best.seconds
    };
    let mut seconds = consider(Strategy::Groups { blocks: None }, &[]);
    for blocks in near.k + 1..=(near.k + 1 + MORE_BLOCKS).min(width) {
        // More blocks are more looks: end when these alone cost too much.
        let looks = limits::choose(blocks, near.k) as f64 * queries as f64;
        if limits::blocks(blocks, near.k).is_err() || looks * cost::PROBE[0] * 1e-9 > seconds {
            break;
        }
        let agreement = |key: F| Agreement {
            bits: key.count_ones(),
            chance: sample.agreement(key),
        };
        let keys = blocks::keys(&sample, width, near.k, blocks);
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

/// How many bits a key has, and the chance that two fingerprints agree in them.
struct Agreement {
    bits: u32,
    chance: f64,
}

struct Job {
    count: usize,
    distinct: usize,
    queries: f64,
    /// The chance that a query and a fingerprint are near, and that they are equal.
    nearness: f64,
    equality: f64,
}

impl Job {
    fn estimate<F: Fingerprint>(&self, strategy: Strategy, keys: &[Agreement]) -> Plan {
        let (grouped, tables) = match strategy {
            Strategy::BruteForce => (false, false),
            Strategy::Tables { .. } => (false, true),
            Strategy::Groups { blocks } => (true, blocks.is_some()),
        };
        let searched = if grouped { self.distinct } else { self.count };
        // Groups are about as large where they are near as elsewhere.
        let found = self.nearness * searched as f64;
        let hits = self.nearness * self.count as f64;
        let Cost {
            mut bytes,
            mut build,
            mut search,
            candidates,
        } = if tables {
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
        // Of eight fingerprints against eight queries.
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

/// Nanoseconds to build, and to search a query.
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

/// The cost of something done in `bytes` of memory, given those in the cache and far beyond.
fn tier([cached, far]: [f64; 2], bytes: usize) -> f64 {
    let missing = (1.0 - CACHE / (bytes as f64).max(CACHE)).max(0.0);
    cached + (far - cached) * missing
}
