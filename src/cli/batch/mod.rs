//! What the commands that are batch jobs have in common: their flags, their inputs, their run and
//! their report.

mod flags;
mod inputs;
mod report;
mod run;
pub mod scaling;

pub use flags::{InputArgs, RunArgs};
pub use inputs::{References, find_inputs};
pub use report::{Report, left_out, unwritten};
pub use run::{check_output, execute, place};
