//! Minima of a set under random permutations, for MinHash.
//!
//! A permutation is h(x) = ⌊a x mod 2^64 / 2^32⌋ + b mod 2^32, with a random 64-bit a and a random
//! 32-bit b for a 32-bit x: multiply-shift without the rounding of its offset. For two different
//! values, h(x) is uniform, and h(y) - h(x) is uniform up to 2^-31, so the family is 2-universal.
//! The values are hashes already. Sources: Dietzfelbinger, "Universal Hashing and k-Wise
//! Independent Random Variables via Integer Arithmetic without Primes", STACS 1996; Broder, "On the
//! Resemblance and Containment of Documents", SEQUENCES 1997.
//!
//! A few permutations stay in registers during a pass over the whole set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::Level;

/// The number of permutations in a group; the last group is padded.
const GROUP: usize = 16;

/// Sixteen permutations as a structure of arrays.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Group {
    /// The lower half of each multiplier.
    low: [u32; GROUP],
    /// The upper half of each multiplier.
    high: [u32; GROUP],
    offset: [u32; GROUP],
}

/// Random permutations of 32-bit values, and the kernel that finds minima under them.
#[derive(Clone, Debug)]
pub struct Permutations {
    groups: Vec<Group>,
    count: usize,
    minima: fn(&[Group], &[u32], &mut [[u32; GROUP]]),
}

impl Permutations {
    /// The permutations of the given pairs of a multiplier and an offset, in their order.
    pub fn new(parameters: &[(u64, u32)], level: Level) -> Permutations {
        let group = |parameters: &[(u64, u32)]| {
            let of = |place: usize| parameters.get(place).copied().unwrap_or((1, 0));
            Group {
                low: std::array::from_fn(|place| of(place).0 as u32),
                high: std::array::from_fn(|place| (of(place).0 >> 32) as u32),
                offset: std::array::from_fn(|place| of(place).1),
            }
        };
        Permutations {
            groups: parameters.chunks(GROUP).map(group).collect(),
            count: parameters.len(),
            minima: select(level),
        }
    }

    /// The number of permutations.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Replaces `minima` by the smallest value of the set under each permutation, `u32::MAX` for an
    /// empty set. O(values * permutations).
    pub fn minima(&self, values: &[u32], minima: &mut Vec<u32>) {
        minima.clear();
        minima.resize(self.groups.len() * GROUP, u32::MAX);
        let (groups, _) = minima.as_chunks_mut();
        (self.minima)(&self.groups, values, groups);
        minima.truncate(self.count);
    }
}

fn select(level: Level) -> fn(&[Group], &[u32], &mut [[u32; GROUP]]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the guard checked that this processor has AVX2.
            |groups, values, minima| unsafe { avx2::minima(groups, values, minima) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => {
            // SAFETY: the guard checked that this processor has AVX-512.
            |groups, values, minima| unsafe { avx512::minima(groups, values, minima) }
        }
        _ => scalar::minima,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn definition(parameters: &[(u64, u32)], values: &[u32]) -> Vec<u32> {
        let minimum = |&(a, b): &(u64, u32)| {
            let hash = |&x: &u32| ((a.wrapping_mul(x.into()) >> 32) as u32).wrapping_add(b);
            values.iter().map(hash).min().unwrap_or(u32::MAX)
        };
        parameters.iter().map(minimum).collect()
    }

    fn check(parameters: &[(u64, u32)], values: &[u32]) {
        let expected = definition(parameters, values);
        for level in Level::available() {
            let permutations = Permutations::new(parameters, level);
            assert_eq!(permutations.count(), parameters.len());
            let mut minima = vec![1; 3];
            for _ in 0..2 {
                permutations.minima(values, &mut minima);
                assert_eq!(minima, expected, "{level}");
            }
        }
    }

    proptest! {
        #[test]
        fn levels_are_the_definition(
            parameters in prop::collection::vec(any::<(u64, u32)>(), 0..200),
            values in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            check(&parameters, &values);
        }
    }

    #[test]
    fn extreme_values() {
        let extremes = [0, 1, 1 << 31, u32::MAX - 1, u32::MAX];
        let halves = extremes.iter().flat_map(|&a| extremes.map(|b| (a, b)));
        let parameters: Vec<(u64, u32)> = halves
            .flat_map(|(low, high)| {
                extremes.map(|offset| (u64::from(high) << 32 | u64::from(low), offset))
            })
            .collect();
        check(&parameters, &extremes);
        for value in extremes {
            check(&parameters, &[value]);
        }
        check(&parameters, &[]);
    }
}
