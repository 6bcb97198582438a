use crate::sketch::Score;

/// Numerator and denominator, not reduced.
pub type Fraction = (u64, u64);

/// What an exact comparison of two documents says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are copies of one another.
    Same(Fraction),
    /// They are not, whatever their sketches say.
    Refused(Fraction),
}

/// What became of a pair that sketches proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The later document is a verified copy of the earlier one.
    Verified,
    /// It is not.
    Refused,
}

/// A pair that sketches proposed and an exact comparison has judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The rank of the later document.
    pub member: u64,
    /// The rank of the earlier one.
    pub centre: u64,
    /// How near their sketches are.
    pub score: Score,
    /// What the exact comparison gave.
    pub verified: Fraction,
    /// And what that means.
    pub outcome: Outcome,
}

impl Event {
    pub(super) fn new(centre: u64, member: u64, score: Score, verdict: Verdict) -> Event {
        let (outcome, verified) = match verdict {
            Verdict::Same(fraction) => (Outcome::Verified, fraction),
            Verdict::Refused(fraction) => (Outcome::Refused, fraction),
        };
        Event {
            member,
            centre,
            score,
            verified,
            outcome,
        }
    }
}
