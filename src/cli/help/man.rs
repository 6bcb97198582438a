//! `simtool man`: manual pages.

use clap::Args;
use clap_mangen::Man;
use simtool::{Error, ErrorKind, Result};

use crate::cli::help;
use crate::cli::screen;

/// Print a manual page, in the format of man.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The topic of the page: main, or a subcommand, or a nested one: index build
    #[arg(default_value = "main", num_args = 1..)]
    topic: Vec<String>,
}

/// Prints the page.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an unknown topic.
pub fn run(args: &ManArgs, definition: clap::Command) -> Result<()> {
    let mut page = Vec::new();
    Man::new(help::topic(&args.topic, definition)?)
        .render(&mut page)
        .map_err(|cause| {
            let message = format!("the manual page of {} cannot be made", args.topic.join(" "));
            Error::new(ErrorKind::Write, message).caused_by(cause)
        })?;
    screen::print(&page)
}
