//! The command as its users meet it: what it writes, prints and refuses, and how it ends.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod faults;
mod files;
mod generated;
mod help;
mod inputs;
mod outputs;
mod plain_form;
mod refused_flags;
mod reports;
mod streams;
mod terminal;
mod workplace;
