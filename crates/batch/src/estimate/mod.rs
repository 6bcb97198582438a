//! What a run will need, from a sample of its inputs: time, temporary space and output.

pub mod input_costs;
pub mod run_cost;
pub mod sampled_output;
pub mod sampling;
