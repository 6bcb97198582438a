//! `simtool spans`: finds stretches of text that occur earlier, of at least a given length, and
//! removes them.
//!
//! A position (a word, or a byte) is repeated if it is in a stretch of at least L units that occurs
//! earlier, in the order of the input. Each stretch of L units is a *window*, which has an *anchor*
//! ([`anchors`](simtool_core::text::anchors)); equal windows have equal anchors.
//!
//! ```text
//! first reading ─► second reading ─► groups ─► third reading ─► windows ─► members ─► stretches
//!  documents,       contexts of       equal     windows of      first      other       ranges in
//!  table of         anchors in the    contexts  different       places     places of   bytes, by a
//!  anchors          table             (classes) contexts                   a class     last reading
//! ```
//!
//! The context of an anchor is all text of its windows. Where contexts are equal, all windows are, so
//! only the first place of each class is compared window by window with those of other classes of
//! the same anchor.
//!
//! Two windows count as equal if their anchors are, with 64-bit hashes of their grams, and 64-bit
//! hashes of both windows. So of n places of one anchor, two different windows are taken for equal
//! with a probability of at most n² / 2⁶⁵ for each place of the anchor in a window.

mod anchors;
mod copies;
mod decide;
mod estimate;
mod job;
mod memory;
mod occurrences;
mod passages;
mod records;
mod resolve;
mod search;
mod stretches;
mod units;

pub use job::{Least, SpansJob};
