//! The exact comparison of candidates.

use simtool_core::text::LeastSimilarity;

/// Two candidates are duplicates if their sets of shingles are similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Words in a shingle.
    pub shingle: usize,
    /// The least similarity of the later document in keep order to the earlier one.
    pub least: LeastSimilarity,
}
