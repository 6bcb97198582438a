//! Keys that find every pair of vectors whose coefficient reaches the threshold.
//!
//! Let A = |a|² ≤ B = |b|² and θ ≤ ab / (A + B − ab), so ab ≥ θ/(1+θ) (A + B).
//!
//! *Norms.* From ab ≤ |a||b| follows r + 1/r ≤ (1+θ)/θ for r = |b|/|a|; squared, q + 1/q ≤ u for q
//! = B/A and u = ((1+θ)/θ)² − 2. Each bucket of norms ends at least at q times its start, so the
//! norms of a pair are in the same or in adjacent buckets. Each vector is in its own bucket and in
//! the next.
//!
//! *Prefixes.* From A + B ≥ 2|a||b| follows ab ≥ c|a||b| for c = 2θ/(1+θ). If all components that a
//! shares were in a suffix s of a, ab ≤ |s||b|, so |s| ≥ c|a|. A prefix whose rest is smaller
//! contains a shared component; likewise for b. With one order for all vectors, both prefixes
//! contain the first shared component.
//!
//! The prefix principle is that of Chaudhuri, Ganti and Kaushik, "A primitive operator for
//! similarity joins in data cleaning", ICDE 2006; for vectors, Bayardo, Ma and Srikant, "Scaling up
//! all pairs similarity search", WWW 2007. Numbers are integers, rounded so that no pair is missed.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::component::VectorComponent;

/// Fractional bits of ratios.
const BITS: u32 = 32;
/// The number of iterations that approximate the largest q from above.
const STEPS: usize = 64;

/// The bounds that the least coefficient implies for norms and prefixes.
#[derive(Clone, Debug)]
pub(super) struct NormBounds {
    /// The starts of the buckets of squared norms, ascending.
    starts: Vec<u128>,
    /// c², rounded down.
    suffix: u128,
}

impl NormBounds {
    /// The bounds for a coefficient of at least `least / of`, in (0, 1].
    pub(super) fn new((least, of): (u64, u64)) -> NormBounds {
        let (least, both) = (u128::from(least), u128::from(least) + u128::from(of));
        let square = |number: u128| number * number;
        let limit = (square(both) << BITS).div_ceil(square(least)) - (2 << BITS);
        NormBounds {
            starts: starts(largest_ratio(limit)),
            suffix: (square(2 * least) << BITS) / square(both),
        }
    }

    /// The bucket of a squared norm.
    fn bucket(&self, norm: u128) -> u64 {
        self.starts.partition_point(|start| *start <= norm) as u64
    }

    /// Calls `emit` with two keys for each component of the prefix of a vector.
    pub(super) fn keys(
        &self,
        components: impl Iterator<Item = VectorComponent> + Clone,
        emit: &mut dyn FnMut(u64),
    ) {
        let norm: u128 = components.clone().map(VectorComponent::square).sum();
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

/// Bucket starts from 1 on, each at least `ratio` times the one before.
fn starts(ratio: u128) -> Vec<u128> {
    let next = |start: &u128| {
        let product = start.checked_mul(ratio)?;
        Some(product.div_ceil(1 << BITS).max(start + 1))
    };
    std::iter::successors(Some(1), next).collect()
}
