//! Sortable records about documents: decisions, groups and their leaders.

use bytemuck::{Pod, Zeroable};

use simtool_core::sketch::Score;

use crate::table::by_number::Numbered;

/// A dropped document, the document that is kept for it, and the evidence.
///
/// Records sort by the dropped document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Decision {
    /// The dropped document.
    pub document: u32,
    /// The kept document; the dropped one itself if no copy is kept.
    pub kept: u32,
    /// The rule that found it: one of the constants below.
    pub evidence: u32,
    /// The method's score: a distance and zero, or a fraction; 0 and 1 for equal documents. For
    /// [`SAME_URL`](Self::SAME_URL), the number of the newest document with the URL, and zero.
    pub score: [u32; 2],
    /// Shared and all shingles; 1 and 1 for equal documents. For [`KNOWN`](Self::KNOWN), an estimated
    /// similarity and its denominator, or zeros. Zeros for [`SAME_URL`](Self::SAME_URL).
    pub verified: [u32; 2],
}

impl Decision {
    /// Both have the same bytes of text.
    pub const SAME_TEXT: u32 = 0;
    /// Both have the same words in the same order.
    pub const SAME_WORDS: u32 = 1;
    /// The method found the pair and verification confirmed it; or a chain of such pairs connects
    /// the two. Refused pairs in the list have this value too.
    pub const NEAR: u32 = 2;
    /// The method found a near document of an index, whose text is not available.
    pub const KNOWN: u32 = 3;
    /// A newer document has the same URL. That one is kept, or dropped in turn for the kept one.
    pub const SAME_URL: u32 = 4;
    /// The job keeps only what several sources have, and the document's cluster comes from too few.
    /// It would be kept otherwise, and names itself as its kept document.
    pub const FEW_SOURCES: u32 = 5;
    /// The same of a document without duplicates, which is in no cluster.
    pub const ALONE: u32 = 6;

    /// A score, encoded for a decision.
    pub fn score(score: Score) -> [u32; 2] {
        match score {
            Score::Distance(bits) => [bits, 0],
            Score::Fraction(share, of) => share_of(share, of),
        }
    }
}

impl Numbered for Decision {
    fn number(&self) -> u32 {
        self.document
    }
}

/// The fraction in 32-bit numbers. If they do not fit (they may be sums of squares), it is rounded
/// down by less than 2⁻²⁹.
fn share_of(share: u64, of: u64) -> [u32; 2] {
    if let (Ok(share), Ok(of)) = (u32::try_from(share), u32::try_from(of)) {
        return [share, of];
    }
    if share >= of {
        return [1, 1];
    }
    // Shifted to 31 bits, because rounding up may add a bit.
    let shift = (u64::BITS - of.leading_zeros()).saturating_sub(31);
    let rounded_up = (of >> shift) + u64::from(of & ((1 << shift) - 1) > 0);
    [narrow(share >> shift), narrow(rounded_up)]
}

/// A number in 32 bits. Larger ones become `u32::MAX`; ranks and numbers of shingles are not that
/// large in practice.
pub fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A document with the same digest or URL as its leader: it is dropped with the leader or for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Follower {
    /// The first of its group in keep order.
    pub leader: u32,
    /// The document.
    pub document: u32,
    /// [`Decision::SAME_TEXT`], [`Decision::SAME_WORDS`] or [`Decision::SAME_URL`].
    pub evidence: u32,
}

/// The first document of a group, with its position in keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Leader {
    /// Zero for documents of the reference, which come before all others.
    pub class: u32,
    /// The smaller key is kept.
    pub keep_key: [u8; 16],
    /// The document's number; among equal keys, the smaller number is kept.
    pub document: u32,
}

/// A [`Leader`] with its scope's group: sorts by group, and within a group by keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct GroupedLeader {
    /// As in [`Leader`].
    pub class: u32,
    /// The group, most significant byte first: only documents of one group are compared.
    pub group: [u8; 8],
    /// As in [`Leader`].
    pub keep_key: [u8; 16],
    /// As in [`Leader`].
    pub document: u32,
}

/// A document that is to be grouped by its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Grouping {
    /// The digest that all documents of the group share.
    pub digest: u128,
    /// The scope's group: only its documents are compared with each other.
    pub group: u64,
    /// The document's position in keep order.
    pub leader: Leader,
    /// The lowest bits of the digest of its text.
    pub text_digest: u64,
    /// One if it is not compared by its sketch, but only by its digest.
    pub is_short: u32,
    /// Zero.
    pub _reserved: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(share: u64, of: u64) -> [u32; 2] {
        Decision::score(Score::Fraction(share, of))
    }

    #[test]
    fn scores_are_encoded_in_32_bits() {
        assert_eq!(Decision::score(Score::Distance(3)), [3, 0]);
        assert_eq!(score(0, 0), [0, 0]);
        assert_eq!(score(2, 4), [2, 4]);
        let most = u32::MAX;
        assert_eq!(score(u64::from(most) - 1, most.into()), [most - 1, most]);
        assert_eq!(score(1 << 40, 1 << 40), [1, 1]);
        assert_eq!(score(u64::MAX, u64::MAX), [1, 1]);
        // One half; both numbers need more than 32 bits.
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
            // Not larger than the exact value, and smaller by 2⁻²⁹ at most.
            prop_assert!(a * u128::from(of) <= u128::from(share) * b);
            let missing = u128::from(share) * b - a * u128::from(of);
            prop_assert!(missing << 29 <= b * u128::from(of));
            prop_assert_eq!(share == of, a == b);
        }
    }
}
