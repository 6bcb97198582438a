//! Lists of positions within an array, each with a number: a distance, or what the caller chooses.

use std::ops::Range;

/// Ranges of an array of positions, each ascending, each with a number.
#[derive(Debug, Default)]
pub(super) struct PositionLists(Vec<(Range<usize>, u32)>);

impl PositionLists {
    /// Memory of a list.
    pub(super) const BYTES: usize = size_of::<(Range<usize>, u32)>();

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the positions of the range `list` of `positions` that are in `within`.
    pub(super) fn add(
        &mut self,
        positions: &[u32],
        list: Range<usize>,
        within: &Range<u32>,
        distance: u32,
    ) {
        let part = &positions[list.clone()];
        // Most lists have one position, which needs no binary search.
        if let [position] = part {
            if within.contains(position) {
                self.0.push((list, distance));
            }
            return;
        }
        let start = list.start + part.partition_point(|position| *position < within.start);
        let end = list.start + part.partition_point(|position| *position < within.end);
        if start < end {
            self.0.push((start..end, distance));
        }
    }

    /// Truncates the lists to at most `limit` entries, or to those of one position if it alone has
    /// more. Returns the start of the next portion, which is the end of `within` if nothing was
    /// cut.
    pub(super) fn cut(&mut self, positions: &[u32], within: &Range<u32>, limit: usize) -> u32 {
        let total: usize = self.0.iter().map(|(list, _)| list.len()).sum();
        if total <= limit {
            return within.end;
        }
        let below = |list: &Range<usize>, border: u32| {
            positions[list.clone()].partition_point(|position| *position < border)
        };
        let fits = |border: u32| {
            let counts = self.0.iter().map(|(list, _)| below(list, border));
            counts.sum::<usize>() <= limit
        };
        // Invariant: `low` fits or is the minimum progress; `high` does not fit.
        let (mut low, mut high) = (within.start + 1, within.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        for (list, _) in &mut self.0 {
            list.end = list.start + below(list, low);
        }
        low
    }

    /// Replaces the contents of `out` by every position, ascending; one in several lists once or
    /// several times. Requires that all positions are in `within`. `marks` is all zero before and
    /// after.
    ///
    /// A large number of positions takes linear time: they are marked in a bitmap and read back in
    /// order, at the cost of one word for every 64 positions.
    pub(super) fn ascending(
        &self,
        positions: &[u32],
        within: &Range<u32>,
        marks: &mut Vec<u64>,
        out: &mut Vec<u32>,
    ) {
        out.clear();
        let total: usize = self.0.iter().map(|(list, _)| list.len()).sum();
        let words = within.len().div_ceil(64);
        let all = self.0.iter().flat_map(|(list, _)| &positions[list.clone()]);
        if self.0.len() <= 1 || total * 8 < words {
            out.extend(all);
            out.sort_unstable();
            return;
        }
        if marks.len() < words {
            marks.resize(words, 0);
        }
        for position in all {
            let offset = position - within.start;
            marks[offset as usize / 64] |= 1 << (offset % 64);
        }
        out.reserve(total);
        for (word, first) in marks[..words].iter_mut().zip((within.start..).step_by(64)) {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                out.push(first + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }

    /// The smallest position.
    pub(super) fn first(&self, positions: &[u32]) -> Option<u32> {
        self.0.iter().map(|(list, _)| positions[list.start]).min()
    }

    /// Removes the positions below `border`. Calls `visit` with those of each list and its
    /// distance, list by list.
    pub(super) fn take_before(
        &mut self,
        positions: &[u32],
        border: u32,
        mut visit: impl FnMut(&[u32], u32),
    ) {
        self.0.retain_mut(|(list, distance)| {
            let all = &positions[list.clone()];
            let count = match all {
                [.., last] if *last < border => all.len(),
                [first, ..] if *first >= border => 0,
                _ => all.partition_point(|position| *position < border),
            };
            if count > 0 {
                visit(&all[..count], *distance);
            }
            list.start += count;
            list.start < list.end
        });
    }

    /// Every position with the distance of its list, list by list.
    pub(super) fn each<'l>(
        &'l self,
        positions: &'l [u32],
    ) -> impl Iterator<Item = (u32, u32)> + 'l {
        let unfold = |(list, distance): &'l (Range<usize>, u32)| {
            let distance = *distance;
            let members = positions[list.clone()].iter();
            members.map(move |position| (*position, distance))
        };
        self.0.iter().flat_map(unfold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_ascend(
            of in prop::collection::vec(0..9usize, 0..600),
            within in (0..600u32, 0..600u32),
            wide in any::<bool>(),
        ) {
            // Position i is in list of[i] if that is below 8. Far apart, positions are sorted, not
            // marked.
            let spread = if wide { 1000 } else { 1 };
            let within = within.0.min(within.1) * spread..within.0.max(within.1) * spread;
            let mut positions = Vec::new();
            let (mut lists, mut marks) = (PositionLists::default(), Vec::new());
            for list in 0..8 {
                let start = positions.len();
                let own = of.iter().zip(0..).filter(|(of, _)| **of == list);
                positions.extend(own.map(|(_, position): (_, u32)| position * spread));
                lists.add(&positions, start..positions.len(), &within, 0);
            }
            let mut expected: Vec<u32> = lists.each(&positions).map(|each| each.0).collect();
            expected.sort();
            let mut found = vec![1, 2];
            lists.ascending(&positions, &within, &mut marks, &mut found);
            prop_assert_eq!(found, expected);
            prop_assert!(marks.iter().all(|word| *word == 0));
        }
    }

    #[test]
    fn portions_cover_every_position_once() {
        let positions = [0, 3, 5, 9, 1, 2, 5, 5, 7, 8];
        let whole = [0..4, 4..6, 6..7, 7..10];
        for limit in 1..12 {
            for within in [0..10, 2..9, 5..6, 4..5, 0..1] {
                let mut seen = Vec::new();
                let mut from = within.start;
                while from < within.end {
                    let mut lists = PositionLists::default();
                    let rest = from..within.end;
                    for list in &whole {
                        lists.add(&positions, list.clone(), &rest, 0);
                    }
                    let next = lists.cut(&positions, &rest, limit);
                    assert!(next > from);
                    let portion: Vec<u32> = lists.each(&positions).map(|each| each.0).collect();
                    assert!(portion.len() <= limit || next == from + 1);
                    assert!(portion.iter().all(|at| (from..next).contains(at)));
                    seen.extend(portion);
                    from = next;
                }
                seen.sort();
                let mut expected: Vec<u32> = positions.to_vec();
                expected.retain(|at| within.contains(at));
                expected.sort();
                assert_eq!(seen, expected);
            }
        }
    }

    #[test]
    fn windows_take_every_position_once() {
        let positions = [0, 3, 5, 9, 1, 2, 5, 5, 7, 8];
        for width in 1..12 {
            let mut lists = PositionLists::default();
            for (list, distance) in [0..4, 4..4, 4..6, 6..7, 7..10].into_iter().zip(0..) {
                lists.add(&positions, list, &(0..10), distance);
            }
            let mut expected: Vec<(u32, u32)> = lists.each(&positions).collect();
            expected.sort();
            let mut seen = Vec::new();
            while let Some(first) = lists.first(&positions) {
                assert_eq!(Some(&first), expected.get(seen.len()).map(|each| &each.0));
                let window = first..first + width;
                let before = seen.len();
                lists.take_before(&positions, window.end, |part, distance| {
                    seen.extend(part.iter().map(|position| (*position, distance)));
                });
                assert!(seen[before..].iter().all(|each| window.contains(&each.0)));
                seen[before..].sort();
            }
            assert_eq!(seen, expected);
        }
    }
}
