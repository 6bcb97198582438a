//! Permutations, and the choice of their kernel.

use super::group::{GROUP, Group};
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::kernel::Level;
use crate::kernel::level::kernel_of;

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
            minima: kernel_of!(level, minima(groups, values, minima)),
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
