//! The reports, the page and the summary of a run.

pub(super) mod beginnings;
pub(super) mod cluster_lines;
pub(super) mod largest;
pub(super) mod page;
pub(super) mod pair_tables;
pub(super) mod reported;
pub(super) mod reports;
pub(super) mod summary;
pub(super) mod write;
