//! The first reading: a row and a sketch of each document.

pub(super) mod frequencies;
pub(super) mod method;
pub(super) mod sketching;
