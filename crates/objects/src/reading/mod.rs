//! Objects are read: in ranges, from their start to their end, or in any order.

pub(super) mod cached;
mod cached_blocks;
pub(super) mod object;
pub(super) mod prefetch;
