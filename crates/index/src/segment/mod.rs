//! Segments: immutable files of sealed documents.
//!
//! A segment is a [file of blocks](crate::io::blocks). Documents are numbered from 0, in the order
//! in which they were added. `docs/reference/index-format.md` defines every byte.

mod attributes;
mod filter;
mod fingerprints;
pub mod lists;
mod look_up;
mod plan;
mod reader;
mod scan;
mod sections;
mod tables;
mod write;

pub use reader::{Segment, SegmentScratch, key_hashes};
pub use write::{MAX_DOCUMENTS, SegmentSettings, SegmentWriter};
