//! `simtool lines`, `spans` and `decontaminate`: their flags, and the plans, runs and results that they
//! have in common.

mod command;
mod decontaminate;
pub mod decontaminate_flags;
mod flags;
mod lines;
pub mod lines_flags;
mod plan;
mod result;
mod spans;
pub mod spans_flags;

pub use command::{PassageCommand, call, run};
pub use flags::{ActionArgs, OutputArgs};
pub use plan::text_of;
