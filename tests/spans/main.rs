//! Repeated stretches of dumps. The result is that of comparing all stretches with each other, for
//! any split into files and threads, any memory, and after any interruption.

#![allow(clippy::unwrap_used)]

mod oracle;
#[path = "../passages/mod.rs"]
mod passages;
mod same_answer;
mod setup;
