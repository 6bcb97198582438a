//! The rows of a store: how they are packed, and how they are read.

mod cursor;
mod file;
mod packing;

pub use cursor::RowCursor;
pub use file::{RowFile, RowRun};
pub use packing::RowPacking;
