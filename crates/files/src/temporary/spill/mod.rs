//! External merge sort.
//!
//! ```text
//! push ─► buffer ─ full ─► sorted run ─┐
//!             │                        ├─ merge, in levels if there are many ─► ascending
//!             └─ finish ─► last run ───┘
//! ```
//!
//! A *run* is a sorted part of the records. The runs of a level are contiguous in one unnamed
//! temporary file, so that many runs need only one descriptor. The file disappears with the sorter,
//! even if the process is killed. If all records fit into the buffer, there is no file.
//!
//! Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.

mod merge;
mod parts;
mod runs;
mod sorter;

pub use parts::{SortedPart, SortedParts};
pub use sorter::{Sorted, Sorter};
