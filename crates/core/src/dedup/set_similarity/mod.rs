//! Search of documents by the similarity of their sets of shingles.

pub(super) mod set_bitmaps;
pub(super) mod set_index;
mod set_prefix;
pub(super) mod set_search;
