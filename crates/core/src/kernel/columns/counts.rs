//! The counts of the columns of words.

/// The maximum number of columns of a word.
pub const MAX_COLUMNS: usize = 128;

/// The number of ones in each column; zero for unused columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct ColumnCounts(pub [u32; MAX_COLUMNS]);

impl Default for ColumnCounts {
    fn default() -> ColumnCounts {
        ColumnCounts([0; MAX_COLUMNS])
    }
}
