//! What a run will need.

pub(super) mod job_estimate;
pub(super) mod lower;
mod marking_rate;
pub(super) mod sample;
