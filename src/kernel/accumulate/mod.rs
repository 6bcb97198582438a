//! Sums of rows of signs (+1 and -1): the weighted sum behind a SimHash.
//!
//! Each slot of a [`KeyTable`](super::probe::KeyTable) has a row of signs or none. Rows are stored
//! as bits, so that those of ten thousand features fit in the cache. The kernels count the ones in
//! each column, in bytes that hold 255 additions, and the number of rows. With `n` rows the sum of
//! signs is `2 * ones - n`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::Level;
use super::probe::MAX_SLOTS;

/// The maximum number of columns of a row.
pub const MAX_COLUMNS: usize = 128;
/// The maximum number of slots in one call of [`SignRows::accumulate`], so that a 32-bit sum cannot
/// overflow.
pub const MAX_ADDITIONS: usize = 1 << 30;

/// The number of columns in a lane of a row.
const LANE: usize = 64;
/// The number of additions that a byte holds.
const BYTE_ADDITIONS: usize = 255;

/// Column sums; those of unused columns are at most zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Sums(pub [i32; MAX_COLUMNS]);

/// Rows of signs, and the row of each slot.
#[derive(Clone, Debug)]
pub struct SignRows {
    /// A row of zeros, then the given rows; each has `lanes` lanes, with bit j for column j.
    rows: Vec<u64>,
    lanes: usize,
    /// The first lane of the row of each possible slot; 0, that of the row of zeros, for a slot
    /// without a row.
    first_lane: Vec<u16>,
    accumulate: Accumulate,
}

type Accumulate = fn(&SignRows, &[u16], &mut Sums);

impl SignRows {
    /// Creates rows of `columns` signs: a set bit j means +1 in column j, a clear one -1.
    ///
    /// # Panics
    /// If `columns` exceeds [`MAX_COLUMNS`] or there are more than 2^15 - 1 rows.
    pub fn new(columns: usize, rows: &[u128], level: Level) -> SignRows {
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
            accumulate: select(level),
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

    /// Adds the row of each slot to `sums`; a slot without a row adds nothing.
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

fn select(level: Level) -> Accumulate {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the guard checked that this processor has AVX2.
            |rows, slots, sums| unsafe { avx2::accumulate(rows, slots, sums) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => {
            // SAFETY: the guard checked that this processor has AVX-512.
            |rows, slots, sums| unsafe { avx512::accumulate(rows, slots, sums) }
        }
        _ => scalar::accumulate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        #[test]
        fn levels_are_the_definition(
            columns in 0usize..=MAX_COLUMNS,
            rows in prop::collection::vec(any::<u128>(), 1..20),
            slots in prop::collection::vec(0u16..30, 0..600),
        ) {
            check(columns, &rows, &slots);
        }
    }

    #[test]
    fn bytes_are_widened_in_time() {
        for additions in [254, 255, 256, 510, 511, 100_000] {
            check(128, &[u128::MAX, 0, 5], &vec![0; additions]);
            check(64, &[u128::MAX, 0, 5], &vec![1; additions]);
        }
    }

    #[test]
    fn sums_go_on() {
        let mut signs = SignRows::new(3, &[0b101], Level::best());
        signs.assign(65_535, 0);
        let mut sums = Sums::default();
        signs.accumulate(&[65_535], &mut sums);
        signs.accumulate(&[65_535, 9], &mut sums);
        assert_eq!(sums.0[..3], [2, -2, 2]);
        assert!(sums.0[3..].iter().all(|&sum| sum <= 0));
    }
}
