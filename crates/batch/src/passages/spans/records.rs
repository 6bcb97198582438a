//! The records that stages pass on. Units and documents are numbered from 0; a window is named by
//! its first unit.

use bytemuck::{Pod, Zeroable};

use crate::passages::decisions::ranges::OfDocument;

/// A place of an anchor. The order is that of anchors, then of contexts, then of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct AnchorPlace {
    /// The hash of the anchor.
    pub id: u64,
    /// The hash of all units of its windows, and of where the anchor is in them.
    pub context: u64,
    /// The document.
    pub document: u32,
    /// The first window.
    pub first: u32,
    /// The units from the first window to the anchor.
    pub before: u32,
    /// The number of windows.
    pub windows: u32,
    /// A hash of the anchor with the half of the rest of a window before it, and one with the half
    /// after it; 0 if the text has less there.
    pub sides: [u32; 2],
}

/// The first place of a class, which is compared window by window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct ClassLeader {
    /// The document.
    pub document: u32,
    /// The first window.
    pub first: u32,
    /// The units from the first window to the anchor.
    pub before: u32,
    /// The number of windows.
    pub windows: u32,
    /// The hash of the anchor.
    pub id: u64,
    /// The places of the class.
    pub places: u32,
    /// Always zero.
    pub _reserved: u32,
}

/// Another place of a class. The order is that of leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct ClassMember {
    /// The document and the first window of the leader.
    pub leader: [u32; 2],
    /// The document and the first window of the member.
    pub own: [u32; 2],
}

/// Consecutive windows of a leader, and where they occur first. The order is that of leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct LeaderPart {
    /// The document and the first window of the leader.
    pub leader: [u32; 2],
    /// The first window of the part.
    pub start: u32,
    /// The number of windows.
    pub windows: u32,
    /// The document and the window of the first occurrence.
    pub kept: [u32; 2],
    /// The most occurrences of one of the windows.
    pub count: u32,
}

/// Consecutive windows that are repeated, and where they occur first. The order is that of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Repeat {
    /// The document.
    pub document: u32,
    /// The first window.
    pub start: u32,
    /// The number of windows.
    pub windows: u32,
    /// The document and the window of the first occurrence. Of periodic windows, those of an
    /// earlier equal window of the same document.
    pub kept: [u32; 2],
    /// The most occurrences of one of the windows; 0 if they are periodic.
    pub count: u32,
}

/// A copy: windows of a document, and how often they occur one after another in another one, or
/// later in the same one. The order is that of what is copied, then of where it is copied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Copied {
    /// The document.
    pub document: u32,
    /// What `colour` is: a [`ByColour`].
    pub by: u32,
    /// The higher and the lower half of the number of the other document, or of its site.
    pub colour: [u32; 2],
    /// The first window.
    pub start: u32,
    /// The window after the last one.
    pub end: u32,
    /// How often; 0 by site.
    pub times: u32,
}

/// Copies are counted once for each document, and once for each site.
pub enum ByColour {
    /// By document.
    Document,
    /// By site.
    Site,
}

/// What some windows add to the occurrences of the passages in them. The order is that of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Point {
    /// The document.
    pub document: u32,
    /// The first window.
    pub start: u32,
    /// The window after the last one.
    pub end: u32,
    /// Occurrences.
    pub count: u32,
    /// Documents with one; a negative number, wrapped, takes away.
    pub documents: u32,
    /// Sites with one; a negative number, wrapped, takes away.
    pub sites: u32,
}

/// A range of repeated units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct UnitRange {
    /// The document.
    pub document: u32,
    /// The first unit.
    pub start: u32,
    /// The unit after the last one.
    pub end: u32,
    /// The most occurrences of a window in it.
    pub count: u32,
    /// Why it is removed: a [`Why`](crate::passages::decisions::ranges::Why).
    pub why: u32,
}

/// The kept copy of a removed range, in units. The order is that of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct KeptUnits {
    /// The document.
    pub document: u32,
    /// The first unit.
    pub start: u32,
    /// The number of units.
    pub units: u32,
    /// The number of the range that repeats them.
    pub range: u32,
}

/// The place of [`KeptUnits`] in bytes. The order is that of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct KeptBytes {
    /// The number of the range that repeats them.
    pub range: u32,
    /// The document.
    pub document: u32,
    /// The first byte.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
    /// The first window of these bytes.
    pub window: u32,
    /// The number of windows; 0 if the whole characters are fewer units than a window.
    pub windows: u32,
}

/// A range in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ByteRange {
    /// The first byte.
    pub start: u32,
    /// The number of bytes; 0 if nothing of it is removed.
    pub length: u32,
    /// The number of words.
    pub words: u32,
}

impl OfDocument for ClassLeader {
    fn document(&self) -> u32 {
        self.document
    }
}

impl OfDocument for UnitRange {
    fn document(&self) -> u32 {
        self.document
    }
}

impl OfDocument for KeptUnits {
    fn document(&self) -> u32 {
        self.document
    }
}
