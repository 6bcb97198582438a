//! From near pairs to a decision for each document, and its clusters.

pub(super) mod clusters;
pub(super) mod decide;
pub(super) mod decided;
pub(super) mod few_sources;
pub(super) mod guard;
pub(super) mod known;
pub(super) mod origins;
pub(super) mod resolve;
