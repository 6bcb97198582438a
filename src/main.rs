//! The `simtool` command.

use std::process::ExitCode;

/// In place of the allocator of musl, which lets threads wait for each other.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(simtool::program::main(std::env::args_os().collect()))
}
