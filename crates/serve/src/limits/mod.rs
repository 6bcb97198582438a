//! Limits of what requests hold at a time: their memory and their number.

pub(super) mod memory;
pub(super) mod permits;
