//! What is decided about a document, in records that sort.

use bytemuck::{Pod, Zeroable};

use crate::sketch::Score;

/// A document that goes, the one that stays, and why.
///
/// Records sort by the document that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Decision {
    /// The document that goes.
    pub document: u32,
    /// The one that stays.
    pub kept: u32,
    /// What found it.
    pub evidence: u32,
    /// What the method says of the two: a distance over zero, or a fraction.
    pub score: [u32; 2],
    /// Shared and all shingles of the two; zeros if an index has the one that stays.
    pub verified: [u32; 2],
}

impl Decision {
    /// Both have the same bytes of text.
    pub const SAME_TEXT: u32 = 0;
    /// Both have the same words in the same order.
    pub const SAME_WORDS: u32 = 1;
    /// The method found them, and verification agreed (or did not, among the refused).
    pub const NEAR: u32 = 2;
    /// An index has a document near it, whose text nobody has.
    pub const KNOWN: u32 = 3;

    /// A score, as a decision has it.
    pub fn score(score: Score) -> [u32; 2] {
        match score {
            Score::Distance(bits) => [bits, 0],
            Score::Fraction(share, of) => share_of(share, of),
        }
    }
}

/// A fraction in 32 bits, rounded down by less than 2⁻²⁹ where it does not fit: the numbers may be
/// sums of squares.
fn share_of(share: u64, of: u64) -> [u32; 2] {
    if let (Ok(share), Ok(of)) = (u32::try_from(share), u32::try_from(of)) {
        return [share, of];
    }
    if share >= of {
        return [1, 1];
    }
    // One bit less than there is room for: rounding up may take it.
    let shift = (u64::BITS - of.leading_zeros()).saturating_sub(31);
    let rounded_up = (of >> shift) + u64::from(of & ((1 << shift) - 1) > 0);
    [narrow(share >> shift), narrow(rounded_up)]
}

/// A rank, or a number of shingles of two documents: none is ever so large that this matters.
pub fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A document that shares its fate with another one, as both have the same digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Follower {
    /// The first of its group in keep order.
    pub leader: u32,
    /// The document.
    pub document: u32,
    /// [`Decision::SAME_TEXT`] or [`Decision::SAME_WORDS`].
    pub evidence: u32,
}

/// The first document of a group, which has its place in keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Leader {
    /// Zero for documents of the reference, which come before all others.
    pub class: u32,
    /// Smaller stays.
    pub keep_key: [u8; 16],
    /// The document's number: of equal ones, the first stays.
    pub document: u32,
}

/// A document on its way to its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Grouping {
    /// What all of the group have.
    pub digest: u128,
    /// Only documents of the same part form a group.
    pub part: u64,
    /// Its place in keep order.
    pub leader: Leader,
    /// The digest of its text.
    pub text_digest: u128,
    /// One if it has no sketch: only its digest counts.
    pub is_short: u32,
    /// Zeros.
    pub _reserved: [u32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(share: u64, of: u64) -> [u32; 2] {
        Decision::score(Score::Fraction(share, of))
    }

    #[test]
    fn large_similarities_stay_what_they_are() {
        assert_eq!(Decision::score(Score::Distance(3)), [3, 0]);
        assert_eq!(score(0, 0), [0, 0]);
        assert_eq!(score(2, 4), [2, 4]);
        let most = u32::MAX;
        assert_eq!(score(u64::from(most) - 1, most.into()), [most - 1, most]);
        assert_eq!(score(1 << 40, 1 << 40), [1, 1]);
        assert_eq!(score(u64::MAX, u64::MAX), [1, 1]);
        // Half of it; both are beyond 32 bits.
        assert_eq!(score(1 << 40, 1 << 41), [1 << 29, 1 << 30]);
        // Rounded up, the denominator takes another bit.
        assert_eq!(score(u64::MAX - 1, u64::MAX), [(1 << 31) - 1, 1 << 31]);
        assert_eq!(score(0, u64::MAX), [0, 1 << 31]);
    }

    proptest! {
        #[test]
        fn similarities_are_rounded_down(numbers in any::<[u64; 2]>(), shift in 0..64u32) {
            let [share, of] = [numbers[0].min(numbers[1]) >> shift, numbers[0].max(numbers[1]) >> shift];
            let [a, b] = score(share, of).map(u128::from);
            // No more than it is, and less by 2⁻²⁹ at most.
            prop_assert!(a * u128::from(of) <= u128::from(share) * b);
            let missing = u128::from(share) * b - a * u128::from(of);
            prop_assert!(missing << 29 <= b * u128::from(of));
            prop_assert_eq!(share == of, a == b);
        }
    }
}
