//! The `simtool` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(simtool::program::main(std::env::args_os().collect()))
}
