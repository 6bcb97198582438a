//! What the commands that search for passages have in common: flags, plans, runs, results.

mod command;
mod flags;
mod plan;
mod result;

pub use command::{PassageCommand, call, run};
pub use flags::{ActionArgs, OutputArgs, PassageReadingArgs};
pub use plan::text_of;
