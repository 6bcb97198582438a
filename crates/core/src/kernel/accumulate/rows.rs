//! Rows of signs and their sums.

use crate::kernel::probe::MAX_SLOTS;

/// The maximum number of columns of a row.
pub const MAX_COLUMNS: usize = 128;
/// The maximum number of slots in one call of [`SignRows::accumulate`]. A sum has 32 bits: the
/// calls that add to one [`Sums`] may have at most `i32::MAX` slots in total.
pub const MAX_ADDITIONS: usize = 1 << 30;

/// The number of columns in a lane, a 64-bit word of a row.
pub(super) const LANE: usize = 64;
/// The number of additions that a byte holds.
#[cfg(target_arch = "x86_64")]
pub(super) const BYTE_ADDITIONS: usize = 255;

/// Column sums; those of unused columns are at most zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Sums(pub [i32; MAX_COLUMNS]);

/// Rows of signs, and the row of each slot.
#[derive(Clone, Debug)]
pub struct SignRows {
    /// A row of zeros, then the given rows, each of `lanes` lanes. Bit j of lane i is set if the
    /// sign in column 64 i + j is +1; bits of unused columns are clear.
    pub(super) rows: Vec<u64>,
    pub(super) lanes: usize,
    /// The first lane of the row of each possible slot; 0, that of the row of zeros, for a slot
    /// without a row.
    pub(super) first_lane: Vec<u16>,
    accumulate: Accumulate,
}

pub(super) type Accumulate = fn(&SignRows, &[u16], &mut Sums);

impl SignRows {
    /// Creates rows of `columns` signs, as [`SignRows::new`] does, with the kernel `accumulate`.
    pub(super) fn with_kernel(columns: usize, rows: &[u128], accumulate: Accumulate) -> SignRows {
        assert!(columns <= MAX_COLUMNS, "{columns} columns");
        assert!(rows.len() < 1 << 15, "{} rows", rows.len());
        let lanes = columns.div_ceil(LANE).max(1);
        let used = if columns == 128 {
            u128::MAX
        } else {
            (1 << columns) - 1
        };
        let rows = std::iter::once(&0).chain(rows);
        let halves = rows.flat_map(|row| [(row & used) as u64, ((row & used) >> LANE) as u64]);
        let signs = halves
            .enumerate()
            .filter(|(half, _)| half % 2 < lanes)
            .map(|(_, half)| half);
        SignRows {
            rows: signs.collect(),
            lanes,
            first_lane: vec![0; MAX_SLOTS],
            accumulate,
        }
    }

    /// Assigns row number `row` to `slot`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn assign(&mut self, slot: u16, row: usize) {
        let first = (row + 1) * self.lanes;
        assert!(first < self.rows.len(), "row {row}");
        self.first_lane[usize::from(slot)] = first as u16;
    }

    /// Adds the row of each slot to `sums`; a slot without a row adds nothing. The sums overflow
    /// after more than `i32::MAX` slots in all calls.
    ///
    /// # Panics
    /// If there are more than [`MAX_ADDITIONS`] slots.
    pub fn accumulate(&self, slots: &[u16], sums: &mut Sums) {
        assert!(slots.len() <= MAX_ADDITIONS, "{} slots", slots.len());
        (self.accumulate)(self, slots, sums);
    }
}

impl Default for Sums {
    fn default() -> Sums {
        Sums([0; MAX_COLUMNS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use proptest::prelude::*;

    fn definition(columns: usize, rows: &[u128], slots: &[u16]) -> Sums {
        let mut sums = Sums::default();
        for &slot in slots {
            if let Some(row) = rows.get(usize::from(slot)) {
                for column in 0..columns {
                    sums.0[column] += if row >> column & 1 == 1 { 1 } else { -1 };
                }
            }
        }
        sums
    }

    fn check(columns: usize, rows: &[u128], slots: &[u16]) {
        for level in Level::available() {
            let mut signs = SignRows::new(columns, rows, level);
            for row in 0..rows.len() {
                signs.assign(row as u16, row);
            }
            let mut sums = Sums::default();
            signs.accumulate(slots, &mut sums);
            assert_eq!(
                sums.0[..columns],
                definition(columns, rows, slots).0[..columns],
                "{level}, {columns} columns"
            );
        }
    }

    proptest! {
        /// Promise (Reproducible answers): Every fast kernel gives the results …
        #[test]
        fn levels_are_the_definition(
            columns in 0usize..=MAX_COLUMNS,
            rows in prop::collection::vec(any::<u128>(), 1..20),
            slots in prop::collection::vec(0u16..30, 0..600),
        ) {
            check(columns, &rows, &slots);
        }
    }

    /// Promise (Correct answers): Column sums do not overflow on …
    #[test]
    fn byte_counters_are_widened_before_they_overflow() {
        for additions in [254, 255, 256, 510, 511, 100_000] {
            check(128, &[u128::MAX, 0, 5], &vec![0; additions]);
            check(64, &[u128::MAX, 0, 5], &vec![0; additions]);
            check(64, &[u128::MAX, 0, 5], &vec![1; additions]);
        }
    }

    #[test]
    fn a_second_call_adds_to_the_sums() {
        let mut signs = SignRows::new(3, &[0b101], Level::best());
        signs.assign(65_535, 0);
        let mut sums = Sums::default();
        signs.accumulate(&[65_535], &mut sums);
        signs.accumulate(&[65_535, 9], &mut sums);
        assert_eq!(sums.0[..3], [2, -2, 2]);
        assert!(sums.0[3..].iter().all(|&sum| sum <= 0));
    }
}
