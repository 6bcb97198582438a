//! `simtool help`: the long help of the plain form or of a subcommand.

pub mod commands;
pub mod completions;
pub mod man;

use clap::Args;
use simtool::{Error, ErrorKind, Result};

use crate::cli::screen;

/// The name of the plain form among the topics.
const PLAIN: &str = "main";
/// The name of the program.
const PROGRAM: &str = "simtool";

/// Explain the plain form (main) or a subcommand at length.
#[derive(Args, Clone, Debug)]
pub struct HelpArgs {
    /// What to explain: main, or a subcommand, or one of its own: index build
    #[arg(default_value = PLAIN, num_args = 1..)]
    topic: Vec<String>,
}

/// Prints the help.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an unknown topic.
pub fn run(args: &HelpArgs, definition: clap::Command) -> Result<()> {
    let help = topic(&args.topic, definition)?.render_long_help();
    screen::print(help.to_string().as_bytes())
}

/// The definition of a subcommand, or of the whole command for `main`. The two names of a nested
/// subcommand can be separate arguments, one argument, or joined by a hyphen.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an unknown name, with the known ones.
pub fn topic(names: &[String], mut command: clap::Command) -> Result<clap::Command> {
    command.build();
    let names = names.join(" ");
    if names == PLAIN {
        return Ok(command);
    }
    let mut found = command;
    let mut rest = names.as_str();
    while !rest.is_empty() {
        let is_next = |name: &str| {
            let behind = rest.strip_prefix(name)?;
            let behind = behind
                .strip_prefix([' ', '-'])
                .or(behind.is_empty().then_some(""))?;
            Some((name.to_owned(), behind))
        };
        let next = found
            .get_subcommands()
            .find_map(|subcommand| is_next(subcommand.get_name()));
        let Some((name, behind)) = next else {
            return Err(unknown(rest, &found));
        };
        rest = behind;
        if let Some(subcommand) = found.find_subcommand(&name) {
            found = subcommand.clone();
        }
    }
    Ok(found)
}

fn unknown(name: &str, command: &clap::Command) -> Error {
    let topics: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let path = command.get_bin_name().unwrap_or(PROGRAM);
    let message = match (topics.is_empty(), path == PROGRAM) {
        (true, _) => format!("{name}: {path} has no subcommands"),
        (_, true) => format!("{name}: expected {PLAIN} or one of {}", topics.join(", ")),
        _ => format!("{name}: expected one of {}", topics.join(", ")),
    };
    Error::new(ErrorKind::Parameter, message)
}
