//! Keys that miss no pair of vectors whose coefficient is high.
//!
//! Let A = |a|² ≤ B = |b|² and θ ≤ ab / (A + B − ab), so ab ≥ θ/(1+θ) (A + B).
//!
//! *Norms.* From ab ≤ |a||b| follows r + 1/r ≤ (1+θ)/θ for r = |b|/|a|; squared, q + 1/q ≤ u for
//! q = B/A and u = ((1+θ)/θ)² − 2. Norms are put into buckets each of which ends at least q times
//! behind its start, so those of a pair are in the same or in neighbouring buckets; each vector is in
//! its own and in the next.
//!
//! *Prefixes.* From A + B ≥ 2|a||b| follows ab ≥ c|a||b| for c = 2θ/(1+θ). If a shared only
//! components of a suffix s of its own, ab ≤ |s||b|, so |s| ≥ c|a|. A prefix that leaves less than
//! that has a shared component; the same goes for b. Prefixes of vectors ordered alike have then the
//! first of all shared components in common.
//!
//! The prefix principle is that of Chaudhuri, Ganti and Kaushik, "A primitive operator for
//! similarity joins in data cleaning", ICDE 2006; for vectors, Bayardo, Ma and Srikant, "Scaling up
//! all pairs similarity search", WWW 2007. Numbers are integers, rounded so that nothing is missed.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Component;

/// Fractional bits of ratios.
const BITS: u32 = 32;
/// Steps towards the largest q, from above.
const STEPS: usize = 64;

/// What the least coefficient says of norms and prefixes.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// Where buckets of squared norms start, ascending.
    starts: Vec<u128>,
    /// c², rounded down.
    suffix: u128,
}

impl Bounds {
    /// For a coefficient of at least a share above zero and at most one.
    pub(super) fn new((least, of): (u64, u64)) -> Bounds {
        let (least, both) = (u128::from(least), u128::from(least) + u128::from(of));
        let square = |number: u128| number * number;
        let limit = (square(both) << BITS).div_ceil(square(least)) - (2 << BITS);
        Bounds {
            starts: starts(largest_ratio(limit)),
            suffix: (square(2 * least) << BITS) / square(both),
        }
    }

    /// The bucket of a squared norm.
    fn bucket(&self, norm: u128) -> u64 {
        self.starts.partition_point(|start| *start <= norm) as u64
    }

    /// Hands two keys to `emit` for each component of the prefix of a vector.
    pub(super) fn keys(
        &self,
        components: impl Iterator<Item = Component> + Clone,
        emit: &mut dyn FnMut(u64),
    ) {
        let norm: u128 = components.clone().map(Component::square).sum();
        let bucket = self.bucket(norm);
        let mut left = norm;
        for component in components {
            for bucket in [bucket, bucket + 1] {
                emit(xxh3_64_with_seed(&component.rank.to_le_bytes(), bucket));
            }
            left -= component.square();
            if left << BITS < norm * self.suffix {
                break;
            }
        }
    }
}

/// The largest q for which q + 1/q ≤ `limit`, rounded up, all with [`BITS`] fractional bits.
///
/// No q is above u; and if none is above some p, then none is above u − 1/p.
fn largest_ratio(limit: u128) -> u128 {
    let one = 1 << (2 * BITS);
    (0..STEPS).fold(limit, |ratio, _| limit - one / ratio)
}

/// From one on, each at least `ratio` times the one before.
fn starts(ratio: u128) -> Vec<u128> {
    let next = |start: &u128| {
        let product = start.checked_mul(ratio)?;
        Some(product.div_ceil(1 << BITS).max(start + 1))
    };
    std::iter::successors(Some(1), next).collect()
}
