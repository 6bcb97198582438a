use crate::sketch::Score;

/// Numerator and denominator, not reduced.
pub type Fraction = (u64, u64);

/// What an exact comparison of two documents says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are copies of one another, as alike as this.
    Same(Fraction),
    /// They are not, whatever their sketches say.
    Refused,
}

/// A pair that sketches proposed and that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The rank of the later document.
    pub member: u64,
    /// The rank of the earlier one.
    pub centre: u64,
    /// How near their sketches are.
    pub score: Score,
    /// What was judged.
    pub verdict: Verdict,
}
