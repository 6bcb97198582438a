//! Sums of rows of plus and minus ones: the weighted sum behind a SimHash.
//!
//! Each slot of a [`KeyTable`](super::probe::KeyTable) names a row of signs or none. Rows are
//! bytes, so that one 64-byte addition adds 64 columns; a byte holds 127 additions, then the sums
//! are widened to 32 bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::Level;
use super::probe::MAX_SLOTS;

/// Most columns of a row.
pub const MAX_COLUMNS: usize = 128;
/// Most slots in one call of [`SignRows::accumulate`], so that a 32-bit sum cannot overflow.
pub const MAX_ADDITIONS: usize = 1 << 30;

/// Columns in a lane, one byte each.
const LANE: usize = 64;
/// Additions that a signed byte holds.
const BYTE_ADDITIONS: usize = 127;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Lane([i8; LANE]);

/// Column sums, zero beyond the columns in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Sums(pub [i32; MAX_COLUMNS]);

/// Rows of signs, and which slot stands for which row.
#[derive(Clone, Debug)]
pub struct SignRows {
    /// The row of zeros, then the rows given; each is `lanes` lanes long.
    rows: Vec<Lane>,
    lanes: usize,
    /// For each possible slot the first lane of its row: that of the zeros if it has none.
    first_lane: Vec<u16>,
    accumulate: Accumulate,
}

type Accumulate = fn(&SignRows, &[u16], &mut Sums);

impl SignRows {
    /// Rows of `columns` signs: bit j of a row set means +1 in column j, clear means -1.
    ///
    /// # Panics
    /// If `columns` exceeds [`MAX_COLUMNS`] or there are more than 2^15 - 1 rows.
    pub fn new(columns: usize, rows: &[u128], level: Level) -> SignRows {
        assert!(columns <= MAX_COLUMNS, "{columns} columns");
        assert!(rows.len() < 1 << 15, "{} rows", rows.len());
        let lanes = columns.div_ceil(LANE).max(1);
        let mut signs = vec![Lane([0; LANE]); lanes * (rows.len() + 1)];
        for (row, lanes) in rows.iter().zip(signs.chunks_mut(lanes).skip(1)) {
            for column in 0..columns {
                let sign = if row >> column & 1 == 1 { 1 } else { -1 };
                lanes[column / LANE].0[column % LANE] = sign;
            }
        }
        SignRows {
            rows: signs,
            lanes,
            first_lane: vec![0; MAX_SLOTS],
            accumulate: select(level),
        }
    }

    /// Lets `slot` stand for row number `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn assign(&mut self, slot: u16, row: usize) {
        let first = (row + 1) * self.lanes;
        assert!(first < self.rows.len(), "row {row}");
        self.first_lane[usize::from(slot)] = first as u16;
    }

    /// Adds the row of each slot to `sums`; slots without a row add nothing.
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
            // SAFETY: the guard has just found the instructions on this processor.
            |rows, slots, sums| unsafe { avx2::accumulate(rows, slots, sums) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if level.is_available() => {
            // SAFETY: as above.
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
                sums,
                definition(columns, rows, slots),
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
        for additions in [126, 127, 128, 254, 255, 100_000] {
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
        assert_eq!(sums.0[..4], [2, -2, 2, 0]);
    }
}
