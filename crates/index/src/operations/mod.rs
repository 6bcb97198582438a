//! What can be done with an index: create, open, build, add, maintain, check, copy.

pub(super) mod add;
pub(super) mod build;
pub(super) mod check;
pub(super) mod copy;
mod maintain;
mod merge_policy;
pub(super) mod open;
pub(super) mod replay;
