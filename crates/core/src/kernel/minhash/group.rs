//! The permutations that a kernel applies at a time.

/// The number of permutations in a group; the last group is padded.
pub(super) const GROUP: usize = 16;

/// Sixteen permutations as a structure of arrays.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Group {
    /// The lower half of each multiplier.
    pub(super) low: [u32; GROUP],
    /// The upper half of each multiplier.
    pub(super) high: [u32; GROUP],
    pub(super) offset: [u32; GROUP],
}
