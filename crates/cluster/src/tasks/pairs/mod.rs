//! The pairs that are duplicates, and what they decide.

pub mod candidates;
pub mod equal;
pub mod frequent;
pub mod known;
pub mod near;
pub mod proposed;
pub mod rounds;
pub mod settled;
pub mod shared_elements;
pub mod spread;
pub mod verified;
