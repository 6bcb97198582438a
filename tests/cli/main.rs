//! The command line: what it writes, prints and refuses, and its exit codes.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod contradictions;
mod effects;
mod faults;
mod files;
mod generated;
mod help;
mod hostile_memory;
mod inputs;
mod log;
mod memory;
mod outputs;
mod plain_form;
mod refused_flags;
mod remote;
mod reports;
mod restart;
#[path = "../sandbox/mod.rs"]
mod sandbox;
#[path = "../skipped/mod.rs"]
mod skipped;
mod streams;
mod terminal;
mod thread_limits;
#[path = "../wait/mod.rs"]
mod wait;
