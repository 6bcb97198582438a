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
            Score::Fraction(share, of) => [narrow(share), narrow(of)],
        }
    }
}

/// A count that is never so large.
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
