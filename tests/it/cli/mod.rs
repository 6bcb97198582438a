//! The command line: what it writes, prints and refuses, and its exit codes.

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
mod streams;
mod terminal;
mod thread_limits;
