//! What must be fast? Every SIMD loop, each with the scalar twin that is its oracle.
//!
//! A table of function pointers is chosen once per process or run; one indirect call serves a
//! whole window of words or a whole block of fingerprints, so its cost does not show.

pub mod hamming;
mod level;

pub use level::Level;
