//! `simtool completions`: what a shell needs to complete our flags.

use clap::Args;
use clap_complete::Shell;
use simtool::Result;

use super::{flags, screen};

/// Print a script that completes flags and subcommands in a shell.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// Those of [`screen::print`].
pub fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut flags::definition(), "simtool", &mut script);
    screen::print(&script)
}
