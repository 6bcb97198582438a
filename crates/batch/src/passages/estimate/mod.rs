//! What a run will need.

pub(crate) mod cost;
pub(crate) mod costs;
