//! Groups of equal fingerprints, and their expansion to positions.

use rayon::prelude::*;
use std::ops::Range;

use super::{Fingerprint, Hit};
use crate::kernel::hamming::Threshold;

/// In place of the number of a group that does not exist any more.
pub(super) const GONE: u32 = u32::MAX;

/// Equal fingerprints, collapsed.
#[derive(Debug)]
pub(super) struct Groups<F> {
    /// The distinct fingerprints, ascending.
    pub(super) values: Vec<F>,
    /// The start of each group in `positions`, and the end of the last.
    starts: Vec<u32>,
    /// The positions group by group, ascending within each.
    pub(super) positions: Vec<u32>,
}

impl<F: Fingerprint> Groups<F> {
    /// Sorts pairs of (value, position); linear if all are equal or already sorted.
    pub(super) fn build(of: &[F], threshold: Threshold<F>) -> Self {
        let mut pairs: Vec<(F, u32)> = of
            .iter()
            .zip(0..)
            .map(|(value, position)| (*value & threshold.mask, position))
            .collect();
        pairs.par_sort_unstable();
        let runs = pairs.chunk_by(|a, b| a.0 == b.0);
        let values: Vec<F> = runs.clone().map(|run| run[0].0).collect();
        let ends = runs.scan(0, |end, run| {
            *end += run.len() as u32;
            Some(*end)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        let positions = pairs.iter().map(|pair| pair.1).collect();
        Groups {
            values,
            starts,
            positions,
        }
    }

    /// Drops the positions for which `keep` does not hold, and groups without any other. Returns the
    /// new number of each group, [`GONE`] for those dropped.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) -> Vec<u32> {
        let (mut groups, mut end) = (0, 0);
        let mut numbers = Vec::with_capacity(self.values.len());
        for old in 0..self.values.len() {
            let start = end;
            for slot in self.starts[old]..self.starts[old + 1] {
                let position = self.positions[slot as usize];
                if keep(position) {
                    self.positions[end] = position;
                    end += 1;
                }
            }
            if end == start {
                numbers.push(GONE);
                continue;
            }
            numbers.push(groups as u32);
            self.values[groups] = self.values[old];
            // Borders up to this one were read already.
            self.starts[groups] = start as u32;
            groups += 1;
        }
        self.values.truncate(groups);
        self.positions.truncate(end);
        self.starts.truncate(groups + 1);
        self.starts[groups] = end as u32;
        numbers
    }

    fn group(&self, number: u32) -> &[u32] {
        &self.positions[self.range(number)]
    }

    /// The range of a group in [`positions`](Self::positions).
    pub(super) fn range(&self, number: u32) -> Range<usize> {
        let number = number as usize;
        self.starts[number] as usize..self.starts[number + 1] as usize
    }

    /// Writes the members of the groups in `found` to `out`, by (distance, position). `found` is
    /// sorted by distance. `marks` is all zero before and after.
    ///
    /// A large number of members takes linear time: their positions are marked in a bitmap and read
    /// back in order, at the cost of one word for every 64 positions.
    pub(super) fn expand(&self, found: &[Hit], marks: &mut Vec<u64>, out: &mut Vec<Hit>) {
        out.clear();
        for run in found.chunk_by(|a, b| a.distance == b.distance) {
            let distance = run[0].distance;
            let start = out.len();
            let groups = run.iter().map(|hit| self.group(hit.position));
            let members: usize = groups.clone().map(<[u32]>::len).sum();
            let words = self.positions.len().div_ceil(64);
            if run.len() == 1 || members * 8 < words {
                let members = groups.flatten();
                out.extend(members.map(|&position| Hit { distance, position }));
                if run.len() > 1 {
                    out[start..].sort_unstable();
                }
                continue;
            }
            marks.resize(words, 0);
            for position in groups.flatten() {
                marks[*position as usize / 64] |= 1 << (position % 64);
            }
            read_back(marks, distance, members, out);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.positions[..])
    }
}

/// Clears `marks` and appends a hit for each of the `members` set bits, in order.
///
/// Most words have few set bits. Two hits are written for every word, whether they exist or not,
/// which avoids a hard-to-predict branch per word.
fn read_back(marks: &mut [u64], distance: u32, members: usize, out: &mut Vec<Hit>) {
    let mut end = out.len();
    out.resize(
        end + members + 2,
        Hit {
            distance,
            position: 0,
        },
    );
    for (word, base) in marks.iter_mut().zip((0..).step_by(64)) {
        let mut bits = std::mem::take(word);
        let count = bits.count_ones() as usize;
        let mut next = || {
            let position = base + (bits.trailing_zeros() & 63);
            bits &= bits.wrapping_sub(1);
            position
        };
        out[end].position = next();
        out[end + 1].position = next();
        for hit in out.iter_mut().skip(end + 2).take(count.saturating_sub(2)) {
            hit.position = next();
        }
        end += count;
    }
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_fingerprints_become_one_group_with_ascending_positions() {
        let groups = Groups::build(
            &[7u64, 3, 7 | 1 << 40, 3, 7],
            Threshold { mask: 0xFF, k: 0 },
        );
        assert_eq!(groups.values, [3, 7]);
        assert_eq!(
            [groups.group(0), groups.group(1)],
            [&[1, 3][..], &[0, 2, 4]]
        );
    }
}
