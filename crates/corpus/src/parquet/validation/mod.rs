//! Validation of what a file claims, before the decoder allocates it.

pub(super) mod footer;
pub(super) mod pages;
mod thrift;
