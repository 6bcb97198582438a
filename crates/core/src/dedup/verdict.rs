//! Verdicts of exact comparisons, and the events of the rules.

use crate::sketch::Score;

/// Numerator and denominator, not reduced.
pub type Fraction = (u64, u64);

/// The result of an exact comparison of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are copies, with this similarity.
    Same(Fraction),
    /// They are not copies, although their sketches are near.
    Refused,
}

/// A pair that sketches proposed and that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The rank of the later document.
    pub member: u64,
    /// The rank of the earlier one.
    pub centre: u64,
    /// The score of their sketches.
    pub score: Score,
    /// The result of the comparison.
    pub verdict: Verdict,
}
