//! `simtool man`: pages of the manual.

use clap::Args;
use clap_mangen::Man;
use simtool::{Error, ErrorKind, Result};

use super::{help, screen};

/// Print a manual page, in the form that man reads.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// What the page is about: main, or a subcommand, or one of its own: index build
    #[arg(default_value = "main", num_args = 1..)]
    topic: Vec<String>,
}

/// Prints the page.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a topic that there is not.
pub fn run(args: &ManArgs) -> Result<()> {
    let mut page = Vec::new();
    Man::new(help::topic(&args.topic)?)
        .render(&mut page)
        .map_err(|cause| {
            let message = format!("the manual page of {} cannot be made", args.topic.join(" "));
            Error::new(ErrorKind::Write, message).caused_by(cause)
        })?;
    screen::print(&page)
}
