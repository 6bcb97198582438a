//! What the user gets.

pub mod captured;
pub mod drops;
pub mod outcomes;
pub mod refusals;
pub mod rows;
