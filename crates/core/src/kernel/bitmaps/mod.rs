//! Hamming distances of a bitmap to each of many.
//!
//! Bitmaps of a few words are stored contiguously and identified by number. The loop is the same
//! for every level; only the instructions that the compiler may use differ.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod scalar;

pub use dispatch::{Distances, MAX_WORDS, distances};
