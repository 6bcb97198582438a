//! Repeated stretches of dumps. The result is that of comparing all stretches with each other, for
//! any split into files and threads, any memory, and after any interruption.

#![allow(clippy::unwrap_used)]

mod command;
mod oracle;
#[path = "../passages/mod.rs"]
mod passages;
#[path = "../passages/readings.rs"]
mod readings;
mod resume;
mod same_answer;
mod setup;
mod written;
