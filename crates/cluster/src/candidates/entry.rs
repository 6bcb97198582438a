//! Elements of prefixes, as they travel between two steps.

use bytemuck::{Pod, Zeroable};

/// The least number of elements that sets of these sizes share.
pub fn min_shared(a: u64, b: u64, thousandths: u64) -> u64 {
    ((a + b) * thousandths).div_ceil(1000 + thousandths)
}

/// No label, or no frontier.
pub const NONE: i64 = i64::MIN;

/// An element of a prefix. Sorts by element, then by tile, then by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The element.
    pub element: i64,
    /// Which part of the documents with a very frequent element searches there.
    pub tile: i64,
    /// The document.
    pub rank: i64,
    /// Its label, or [`NONE`].
    pub label: i64,
    /// The rank after which it searches; [`NONE`] if it does not search.
    pub frontier: i64,
    /// The size of its set.
    pub size: u32,
    /// The place of the element in the order of its set.
    pub place: u32,
}
