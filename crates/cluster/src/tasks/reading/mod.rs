//! Texts to rows, sketches and sets of shingles.

pub mod captures;
pub mod home;
pub mod read;
pub mod set_store;
pub mod sets;
pub mod sort;
