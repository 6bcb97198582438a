//! What a run will need, from a sample of its inputs: time, temporary space and output.

pub mod input_costs;
pub mod run_cost;
pub mod sampled_output;
pub mod sampling;

/// The assumed share of the documents that have a near one, and of the units and stretches that occur
/// again. A sample cannot show it: the copies may be anywhere.
pub const ASSUMED_SHARE: f64 = 0.2;
