//! Occurrences of units.

use bytemuck::{Pod, Zeroable};

/// An occurrence of a unit. The order is that of the units, then of the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Occurrence {
    /// The hash of the unit, or of the unit and of the group in which it is counted.
    pub key: [u64; 2],
    /// The number of the document.
    pub document: u32,
    /// The first byte in its text.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
    /// Always zero.
    pub _reserved: u32,
    /// The site of the document; 0 if it has none.
    pub site: u64,
}
