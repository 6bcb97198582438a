//! SIMD kernels, each with a scalar version that is its oracle.
//!
//! A kernel is a function pointer, chosen for a [`Level`] when the structure that uses it is
//! created. One indirect call processes a whole window of words or block of fingerprints, so its
//! cost is negligible.

pub mod accumulate;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod bitmaps;
pub mod columns;
pub mod hamming;
mod level;
pub mod members;
pub mod minima;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod probe;
pub mod runs;
pub mod words;

pub use level::Level;
