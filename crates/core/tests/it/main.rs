//! Searches and deduplication against the comparison of all pairs.

#![allow(clippy::unwrap_used)]

mod dedup;
mod hamming;
mod joins;
