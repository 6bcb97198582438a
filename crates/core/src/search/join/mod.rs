//! Search for the near sketches of a block, for every method.
//!
//! A [`SketchIndex`] indexes [`Sketches`](crate::sketch::Sketches) in memory. Equal sketches are
//! collapsed into a group, so that they cost no more than one. Fingerprints are searched by
//! [`hamming`](super::hamming). For other methods, candidates are found and then scored. Sets are
//! found by the rare features that they share, vectors of common features by a coarse outline of
//! each, all others by the keys of their method. A query yields a few ascending *lists* of
//! positions, of which only the part in the requested range is expanded.
//!
//! A [`SketchJoin`] asks for all sketches at once whether any other is near. It needs no index, and
//! exists for fingerprints and for sketches that are found by the keys of their method.
//!
//! Every answer equals that of comparing all pairs, for any memory, level and number of threads.
//! This relies on the guarantee of every method that near sketches share a key, or a part of their
//! [vectors].
//!
//! [vectors]: crate::sketch::Vectors

mod candidates;
mod fingerprints;
mod index;
mod lists;
mod query;
mod rarity;
mod self_join;
mod source;
mod table;

pub use index::{Scratch, SketchIndex};
pub use query::{AnyQuery, NearQuery};
pub(crate) use rarity::Rarity;
pub use self_join::SketchJoin;
pub use source::SketchSource;
