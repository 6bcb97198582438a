//! Repeated stretches of dumps. The result is that of comparing all stretches with each other, for
//! any split into files and threads, any memory, and after any interruption.

mod command;
mod oracle;
mod same_answer;
pub mod setup;
mod written;
