//! What happens to passages, and what has to remain.

pub(crate) mod action;
pub(crate) mod remains;
