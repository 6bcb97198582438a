//! Queries of an index of sketches.

use std::ops::Range;

/// A query for whether any sketch is near.
#[derive(Clone, Copy, Debug)]
pub struct AnyQuery<'q> {
    /// The sketch.
    pub sketch: &'q [u8],
    /// A position to ignore, such as that of the sketch itself.
    pub except: Option<u32>,
}

/// A query for the near sketches in a range of positions, answered in bounded portions.
#[derive(Clone, Debug)]
pub struct NearQuery<'q> {
    /// The sketch.
    pub sketch: &'q [u8],
    /// The range of positions to search.
    pub within: Range<u32>,
    /// The maximum number of candidates of one answer; the rest needs another query.
    pub limit: usize,
}
