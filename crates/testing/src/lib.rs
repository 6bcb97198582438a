//! What tests of several crates need: HTTP servers that fail in every way, and words for tests that
//! wait or are skipped.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

pub mod bucket;
mod http;
pub mod server;
pub mod skipped;
pub mod wait;
