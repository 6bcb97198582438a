//! What the user gets.

pub mod outcomes;
pub mod refusals;
pub mod rows;
