//! `simtool completions`: scripts that complete flags in a shell.

use clap::Args;
use clap_complete::Shell;
use simtool::Result;

use crate::cli::screen;

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
/// Errors of [`screen::print`].
pub fn run(args: &CompletionsArgs, mut definition: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition, "simtool", &mut script);
    screen::print(&script)
}
