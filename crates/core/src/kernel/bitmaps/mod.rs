//! Hamming distances of a bitmap to each of many.
//!
//! Bitmaps of a few words are stored contiguously and identified by number. The loop is the same
//! for the levels of x86-64; only the instructions that the compiler may use differ. The compiler
//! widens the counts of bits at once for NEON, so that has a loop of its own.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use dispatch::{Distances, MAX_WORDS, distances};
