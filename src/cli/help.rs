//! `simtool help`: the long help of the plain form or of a subcommand.

use clap::Args;
use simtool::{Error, ErrorKind, Result};

use super::{flags, screen};

/// The name of the plain form among the topics.
const PLAIN: &str = "main";

/// Explain the plain form (main) or a subcommand at length.
#[derive(Args, Clone, Debug)]
pub struct HelpArgs {
    /// What to explain: main, or a subcommand
    #[arg(default_value = PLAIN)]
    topic: String,
}

/// Prints the help.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a topic that there is not.
pub fn run(args: &HelpArgs) -> Result<()> {
    let help = topic(&args.topic)?.render_long_help();
    screen::print(help.to_string().as_bytes())
}

/// The definition of a subcommand, or that of the whole command for `main`.
///
/// # Errors
/// [`ErrorKind::Parameter`] for another name, with those that there are.
pub fn topic(name: &str) -> Result<clap::Command> {
    let mut command = flags::definition();
    command.build();
    if name == PLAIN {
        return Ok(command);
    }
    if let Some(subcommand) = command.find_subcommand(name) {
        return Ok(subcommand.clone());
    }
    let topics: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let message = format!("{name}: expected {PLAIN} or one of {}", topics.join(", "));
    Err(Error::new(ErrorKind::Parameter, message))
}
