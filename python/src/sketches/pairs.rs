//! The list of all pairs of near fingerprints, in order.
//!
//! The self-join pairs the first of equal fingerprints with others, in no order. So its pairs are
//! expanded to all equal fingerprints, and sorted.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use simtool::engine::Progress;
use simtool::kernel::Level;
use simtool::program::half_of_memory;
use simtool::search::hamming::self_join::{Near, SelfJoin, Watch};
use simtool::{Error, ErrorKind, Result};

/// The memory of the join. Fingerprints that do not fit are joined in parts; a part is divided
/// between two checks for interruption, so it is small.
const JOIN_BYTES: usize = 1 << 26;
/// The bytes of a pair, as it is returned, and as it is collected.
const PAIR_BYTES: u64 = 18;
/// Pairs that are counted, or visited between two checks for interruption, at a time.
const COUNTED: usize = 1 << 16;
/// Pairs that a thread sorts between two checks for interruption, unless one fingerprint has more.
const SORTED: usize = 1 << 18;

/// Pairs as columns of little-endian numbers.
pub struct Columns {
    /// Lower positions, of 32 bits.
    pub lower: Vec<u8>,
    /// The other positions, of 32 bits.
    pub other: Vec<u8>,
    /// Distances, of 8 bits.
    pub distance: Vec<u8>,
}

/// All pairs of `values` that differ in at most `distance` of their `width` lowest bits, ordered by
/// lower position, distance and other position. Uses the current rayon pool.
///
/// Memory: 30 bytes for each fingerprint, 18 for each pair, and that of the join.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a `width` that is not 1 to 64, and too many fingerprints;
/// [`ErrorKind::Memory`] for more pairs than fit into half of the available memory; interruption.
pub fn near_pairs(
    values: &[u64],
    width: u32,
    distance: u32,
    progress: &Progress,
) -> Result<Columns> {
    let join = SelfJoin::new(values, width, distance, JOIN_BYTES, Level::best())?;
    let collected = Collected {
        lists: (0..rayon::current_num_threads())
            .map(|_| Mutex::default())
            .collect(),
        count: AtomicU64::new(0),
        room: Room {
            pairs: half_of_memory() / PAIR_BYTES,
            distance,
        },
        progress,
    };
    join.pairs(&collected, &|near| collected.add(near))?;
    let room = collected.room;
    let firsts: Vec<Vec<[u32; 2]>> = collected
        .lists
        .into_iter()
        .map(|list| list.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let all = AllPairs::of(values, u64::MAX >> (64 - width), firsts, progress)?;
    let borders = all.borders(&room)?;
    let slots = all.slots(&borders)?;
    drop(all);
    columns(&borders, slots, progress)
}

/// The number of pairs that fit into memory.
struct Room {
    pairs: u64,
    distance: u32,
}

impl Room {
    fn check(&self, pairs: u64) -> Result<()> {
        if pairs <= self.pairs {
            return Ok(());
        }
        let message = format!(
            "distance {}: at least {pairs} pairs are as near, and {} fit into memory; use a smaller \
             distance, or leave out texts without words, whose fingerprints are all 0",
            self.distance, self.pairs
        );
        Err(Error::new(ErrorKind::Memory, message))
    }
}

/// The pairs of the join so far: a list for each thread.
struct Collected<'a> {
    lists: Vec<Mutex<Vec<[u32; 2]>>>,
    /// Rounded down for each thread.
    count: AtomicU64,
    room: Room,
    progress: &'a Progress,
}

impl Collected<'_> {
    fn add(&self, near: Near) {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let list = &self.lists[thread % self.lists.len()];
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(near.positions);
        if list.len().is_multiple_of(COUNTED) {
            self.count.fetch_add(COUNTED as u64, Ordering::Relaxed);
        }
    }
}

impl Watch for Collected<'_> {
    fn reached(&self, _: f64) -> Result<()> {
        self.progress.check()?;
        self.room.check(self.count.load(Ordering::Relaxed))
    }
}

/// All pairs: those of the join, and equal fingerprints.
struct AllPairs<'a> {
    values: &'a [u64],
    /// The bits that count.
    mask: u64,
    /// The pairs of the join.
    firsts: Vec<Vec<[u32; 2]>>,
    equal: Equal,
    progress: &'a Progress,
}

impl<'a> AllPairs<'a> {
    fn of(
        values: &'a [u64],
        mask: u64,
        firsts: Vec<Vec<[u32; 2]>>,
        progress: &'a Progress,
    ) -> Result<AllPairs<'a>> {
        let mut all = AllPairs {
            values,
            mask,
            firsts,
            equal: Equal::default(),
            progress,
        };
        let mut first: Vec<u32> = (0..values.len() as u32).collect();
        all.visit_firsts(|a, b, distance| {
            if distance == 0 {
                first[b as usize] = a;
            }
            Ok(())
        })?;
        all.equal = Equal::of(&first);
        Ok(all)
    }

    /// Calls `visit` for each pair of the join, with its distance.
    fn visit_firsts(&self, mut visit: impl FnMut(u32, u32, u32) -> Result<()>) -> Result<()> {
        for pairs in self.firsts.iter().flat_map(|list| list.chunks(COUNTED)) {
            self.progress.check()?;
            for &[a, b] in pairs {
                let [of_a, of_b] = [a, b].map(|position| self.values[position as usize]);
                visit(a, b, ((of_a ^ of_b) & self.mask).count_ones())?;
            }
        }
        Ok(())
    }

    /// Calls `visit` for each pair, with its distance; the lower position first.
    fn visit(&self, mut visit: impl FnMut(u32, u32, u32)) -> Result<()> {
        self.visit_firsts(|a, b, distance| {
            if distance == 0 {
                return Ok(());
            }
            for &a in self.equal.to(a) {
                self.progress.check()?;
                for &b in self.equal.to(b) {
                    visit(a.min(b), a.max(b), distance);
                }
            }
            Ok(())
        })?;
        for position in 0..self.values.len() as u32 {
            let group = self.equal.to(position);
            for (number, &a) in group.iter().enumerate() {
                self.progress.check()?;
                group[number + 1..].iter().for_each(|&b| visit(a, b, 0));
            }
        }
        Ok(())
    }

    /// The number of all pairs.
    fn count(&self) -> Result<u64> {
        let size = |position| self.equal.to(position).len() as u64;
        let mut count = 0u64;
        self.visit_firsts(|a, b, distance| {
            if distance > 0 {
                count = count.saturating_add(size(a) * size(b));
            }
            Ok(())
        })?;
        for position in 0..self.values.len() as u32 {
            let size = size(position);
            count = count.saturating_add(size * size.saturating_sub(1) / 2);
        }
        Ok(count)
    }

    /// For each position, where its pairs begin in a list that is ordered by lower position, and
    /// where they end.
    fn borders(&self, room: &Room) -> Result<Vec<usize>> {
        room.check(self.count()?)?;
        let mut borders = vec![0; self.values.len() + 1];
        self.visit(|lower, _, _| borders[lower as usize + 1] += 1)?;
        let mut sum = 0;
        for border in &mut borders {
            sum += *border;
            *border = sum;
        }
        Ok(borders)
    }

    /// The pairs ordered by lower position: the distance in the upper half, then the other position.
    fn slots(&self, borders: &[usize]) -> Result<Vec<u64>> {
        let mut slots = vec![0; borders.last().copied().unwrap_or(0)];
        let mut next = borders.to_vec();
        self.visit(|lower, other, distance| {
            let place = &mut next[lower as usize];
            slots[*place] = u64::from(distance) << 32 | u64::from(other);
            *place += 1;
        })?;
        Ok(slots)
    }
}

/// The positions of equal fingerprints.
#[derive(Default)]
struct Equal {
    /// For each position, the end of its list in `members`; of the first of equal ones, their
    /// positions, ascending, of others nothing.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Equal {
    /// `first` has for each position the first one with an equal fingerprint.
    fn of(first: &[u32]) -> Equal {
        let mut ends = vec![0; first.len() + 1];
        first
            .iter()
            .for_each(|&position| ends[position as usize + 1] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // Each start becomes the end of its list as the list is filled.
        let mut members = vec![0; first.len()];
        for (position, &first) in (0..).zip(first) {
            let end = &mut ends[first as usize];
            members[*end as usize] = position;
            *end += 1;
        }
        Equal { ends, members }
    }

    fn to(&self, first: u32) -> &[u32] {
        let end = self.ends[first as usize] as usize;
        let start = match first {
            0 => 0,
            first => self.ends[first as usize - 1] as usize,
        };
        &self.members[start..end]
    }
}

/// Sorts the pairs of each position, and returns all as columns.
fn columns(borders: &[usize], mut slots: Vec<u64>, progress: &Progress) -> Result<Columns> {
    let count = slots.len();
    let mut columns = Columns {
        lower: vec![0; 4 * count],
        other: vec![0; 4 * count],
        distance: vec![0; count],
    };
    let mut pieces = Vec::new();
    let (mut slots, mut lower) = (&mut slots[..], columns.lower.as_chunks_mut::<4>().0);
    let (mut other, mut distance) = (
        columns.other.as_chunks_mut::<4>().0,
        &mut columns.distance[..],
    );
    for positions in pieces_of(borders) {
        let length = borders[positions.end] - borders[positions.start];
        pieces.push(Piece {
            positions,
            slots: slots.split_off_mut(..length).unwrap_or_default(),
            lower: lower.split_off_mut(..length).unwrap_or_default(),
            other: other.split_off_mut(..length).unwrap_or_default(),
            distance: distance.split_off_mut(..length).unwrap_or_default(),
        });
    }
    pieces.into_par_iter().try_for_each(|piece| {
        progress.check()?;
        piece.write(borders);
        Ok(())
    })?;
    Ok(columns)
}

/// Positions in runs of about [`SORTED`] pairs.
fn pieces_of(borders: &[usize]) -> Vec<Range<usize>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    for end in 1..borders.len() {
        if borders[end] - borders[start] >= SORTED || end + 1 == borders.len() {
            pieces.push(start..end);
            start = end;
        }
    }
    pieces
}

/// The pairs of some lower positions.
struct Piece<'a> {
    positions: Range<usize>,
    slots: &'a mut [u64],
    lower: &'a mut [[u8; 4]],
    other: &'a mut [[u8; 4]],
    distance: &'a mut [u8],
}

impl Piece<'_> {
    fn write(self, borders: &[usize]) {
        let first = borders[self.positions.start];
        for position in self.positions {
            let range = borders[position] - first..borders[position + 1] - first;
            self.slots[range.clone()].sort_unstable();
            self.lower[range].fill((position as u32).to_le_bytes());
        }
        for ((slot, other), distance) in self.slots.iter().zip(self.other).zip(self.distance) {
            *other = (*slot as u32).to_le_bytes();
            *distance = (*slot >> 32) as u8;
        }
    }
}
