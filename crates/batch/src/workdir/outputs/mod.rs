//! The output files of a run: their record, their state, and how they become complete.

pub(crate) mod group;
pub(crate) mod journal;
pub(crate) mod output_files;
pub(crate) mod output_state;
pub(crate) mod parallel;
pub(crate) mod place;
pub(crate) mod recorded_files;
pub(crate) mod upload;
