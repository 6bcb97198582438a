//! Groups of equal sketches.

use std::ops::Range;

use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use rayon::slice::ParallelSliceMut;
use xxhash_rust::xxh3::xxh3_64;

use crate::Result;
use crate::sketch::Sketches;

/// Sketches that are visited between two checks for interruption.
pub(super) const CHECKED: usize = 1 << 12;

/// Groups of the positions of equal sketches.
///
/// Groups of several members come first, then those of one; both ordered by their first member.
pub(super) struct EqualSketches {
    several: u32,
    /// The start of each group in `members`, and the end of the last.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl EqualSketches {
    /// Memory per sketch during construction: its hash and position, its leader, the size and start
    /// of its group, and its entry in `members`.
    pub(super) const BYTES: usize = 16 + 4 + 4 + 4 + 4;

    /// Takes O(n log n) comparisons of hashes; sketches are compared only where hashes are equal.
    pub(super) fn new(sketches: Sketches<'_>) -> EqualSketches {
        let leaders = leaders(sketches);
        let mut sizes = vec![0u32; leaders.len()];
        leaders
            .iter()
            .for_each(|&leader| sizes[leader as usize] += 1);
        let numbered = |single: bool| {
            let leaders = sizes.iter().zip(0u32..);
            leaders.filter(move |(size, _)| **size > 0 && (**size == 1) == single)
        };
        let several = numbered(false).count() as u32;
        let mut starts = vec![0];
        let mut end = 0;
        for (size, _) in numbered(false).chain(numbered(true)) {
            end += size;
            starts.push(end);
        }
        let order: Vec<u32> = numbered(false)
            .chain(numbered(true))
            .map(|(_, leader)| leader)
            .collect();
        // From here on, the slot for the next member of each leader's group.
        let mut slots = sizes;
        for (leader, start) in order.into_iter().zip(&starts) {
            slots[leader as usize] = *start;
        }
        let mut members = vec![0; leaders.len()];
        for (leader, position) in leaders.into_iter().zip(0..) {
            let slot = &mut slots[leader as usize];
            members[*slot as usize] = position;
            *slot += 1;
        }
        EqualSketches {
            several,
            starts,
            members,
        }
    }

    /// The number of groups.
    pub(super) fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Calls `visit` with each group and its sketch, in order, and `check` now and then.
    ///
    /// # Errors
    /// That of `check`.
    pub(super) fn for_each(
        &self,
        sketches: Sketches<'_>,
        check: &(dyn Fn() -> Result<()> + Sync),
        mut visit: impl FnMut(u32, &[u8]),
    ) -> Result<()> {
        for first in (0..self.count()).step_by(CHECKED) {
            check()?;
            let end = self.count().min(first.saturating_add(CHECKED as u32));
            self.for_each_of(first..end, sketches, &mut visit);
        }
        Ok(())
    }

    /// Calls `map` with ranges of [`CHECKED`] groups, and `check` before each, in the current rayon
    /// pool. Returns the results in order.
    ///
    /// # Errors
    /// That of `check`.
    pub(super) fn map_ranges<T: Send>(
        &self,
        check: &(dyn Fn() -> Result<()> + Sync),
        map: impl Fn(Range<u32>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let starts = (0..self.count()).into_par_iter().step_by(CHECKED);
        let mapped = starts.map(|first| {
            check()?;
            Ok(map(
                first..self.count().min(first.saturating_add(CHECKED as u32))
            ))
        });
        mapped.collect()
    }

    /// Calls `visit` with some groups and their sketches, in order.
    pub(super) fn for_each_of(
        &self,
        groups: Range<u32>,
        sketches: Sketches<'_>,
        mut visit: impl FnMut(u32, &[u8]),
    ) {
        for group in groups {
            visit(group, sketches.get(self.first(group) as usize));
        }
    }

    /// The number of groups with several members, which come first.
    pub(super) fn several(&self) -> u32 {
        self.several
    }

    /// All members, group by group, ascending within each.
    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// The range of a group in [`members`](Self::members).
    pub(super) fn list(&self, group: u32) -> Range<usize> {
        let group = group as usize;
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// The first member of a group.
    pub(super) fn first(&self, group: u32) -> u32 {
        self.members[self.starts[group as usize] as usize]
    }

    /// Whether a group has members in `within`.
    pub(super) fn meets(&self, group: u32, within: &Range<u32>) -> bool {
        let members = &self.members[self.list(group)];
        let before = members.partition_point(|member| *member < within.start);
        members
            .get(before)
            .is_some_and(|member| *member < within.end)
    }

    /// The groups of one member whose member is in `within`.
    pub(super) fn singles(&self, within: &Range<u32>) -> Range<u32> {
        let start = self.starts[self.several as usize] as usize;
        let singles = &self.members[start..];
        let before = |border| singles.partition_point(|member| *member < border) as u32;
        let (start, end) = (before(within.start), before(within.end));
        self.several + start..self.several + end.max(start)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.members[..])
    }
}

/// For each position, the first position with an equal sketch.
fn leaders(sketches: Sketches<'_>) -> Vec<u32> {
    let mut leaders: Vec<u32> = (0..sketches.count() as u32).collect();
    let hash = |position: &u32| (xxh3_64(sketches.get(*position as usize)), *position);
    let mut hashed: Vec<(u64, u32)> = leaders.par_iter().map(hash).collect();
    hashed.par_sort_unstable();
    let sketch = |entry: &(u64, u32)| sketches.get(entry.1 as usize);
    for run in hashed.chunk_by_mut(|a, b| a.0 == b.0) {
        // Almost always they are equal, and sorted already.
        if run.iter().any(|entry| sketch(entry) != sketch(&run[0])) {
            run.sort_by(|a, b| sketch(a).cmp(sketch(b)));
        }
        for equal in run.chunk_by(|a, b| sketch(a) == sketch(b)) {
            for (_, position) in equal {
                leaders[*position as usize] = equal[0].1;
            }
        }
    }
    leaders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn groups_are_those_of_equal_sketches(
            sketches in prop::collection::vec(0u8..12, 0..40),
            within in any::<[u8; 2]>(),
        ) {
            let fold = EqualSketches::new(Sketches::of_length(&sketches, 1));
            let mut expected: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
            for (sketch, position) in sketches.iter().zip(0..) {
                expected.entry(*sketch).or_default().push(position);
            }
            let mut expected: Vec<Vec<u32>> = expected.into_values().collect();
            expected.sort_by_key(|group| (group.len() == 1, group[0]));
            let groups = 0..fold.count();
            let found: Vec<Vec<u32>> = groups
                .map(|group| fold.members()[fold.list(group)].to_vec())
                .collect();
            prop_assert_eq!(&found, &expected);
            let several = expected.iter().filter(|group| group.len() > 1).count();
            prop_assert_eq!(fold.several() as usize, several);
            let mut within = within.map(|border| u32::from(border) % 41);
            within.sort_unstable();
            let within = within[0]..within[1];
            for (group, members) in (0..).zip(&expected) {
                let meets = members.iter().any(|member| within.contains(member));
                prop_assert_eq!(fold.meets(group, &within), meets);
                prop_assert_eq!(fold.first(group), members[0]);
                let is_single = members.len() == 1 && meets;
                prop_assert_eq!(fold.singles(&within).contains(&group), is_single);
            }
        }
    }
}
