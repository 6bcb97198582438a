//! Near-neighbour search over sketches.
//!
//! [`hamming`] finds every fingerprint within k bits of a query, exactly. [`join`] finds the pairs
//! of near sketches, for any method. [`minima`] compares many documents with a few, by estimates of
//! their similarity. [`naive`] compares all pairs and is the oracle of every faster
//! search.

pub mod hamming;
pub mod join;
pub mod minima;
pub mod naive;
