//! What must be fast? Every SIMD loop, each with the scalar twin that is its oracle.
//!
//! A kernel is a function pointer, chosen once for a [`Level`] when the structure it serves is
//! made; one indirect call serves a whole window of words or a whole block of fingerprints, so
//! its cost does not show.

pub mod accumulate;
pub mod bitmaps;
pub mod columns;
pub mod hamming;
mod level;
pub mod minhash;
pub mod probe;
pub mod runs;
pub mod words;

pub use level::Level;
