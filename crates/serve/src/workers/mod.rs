//! The threads of the service: those that search, that write, and that merge segments.

pub(super) mod merger;
pub(super) mod pool;
pub(super) mod threads;
pub(super) mod writer;
