//! `simtool index add`: look for documents and add them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::run::seen::Seen;

use super::build::PayloadName;
use super::settings_flags::{SettingsArgs, manner_of};
use super::working::{DocumentArgs, print};
use crate::cli::exit::Finish;

/// Look for documents and add them, each in one step
///
/// A document whose id is there with the same sketch stays as it is; one with another sketch is
/// replaced. What was committed before an interruption stays: run the command again for the rest.
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// What comes back with a document: url, date or none
    #[arg(long, value_name = "FIELD", default_value = "none")]
    payload: PayloadName,
}

/// Adds, and prints what was new.
pub fn run(args: &AddArgs) -> Result<Finish> {
    let working = args.documents.begin(&args.index)?;
    let (wanted, level) = (args.settings.wanted()?, working.resources.level);
    let seen = Seen::open(&args.index, &wanted, level, &working.options())?;
    let manner = manner_of(seen.settings(), args.documents.reading());
    let sources = working.sources(&args.documents, &manner.reading)?;
    let added = seen.add_inputs(working.inputs(&sources, &manner), args.payload.into())?;
    drop(working);
    print(&added)
}
