//! What happens to passages, and what has to remain.

pub(crate) mod action;
pub(crate) mod kept_occurrence;
pub(crate) mod passage_settings;
pub(crate) mod remains;
