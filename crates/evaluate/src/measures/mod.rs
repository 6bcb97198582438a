//! Measures: counts and their intervals, curves, clusters, significance, and samples.

pub(super) mod agreement;
pub(super) mod bootstrap;
pub(super) mod clusters;
pub(super) mod count;
pub(super) mod histogram;
pub(super) mod mistakes;
pub(super) mod proportion;
pub(super) mod significance;
pub(super) mod strata;
pub(super) mod sweep;
