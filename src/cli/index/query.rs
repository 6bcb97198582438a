//! `simtool index query`: ask for documents without adding them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::run::seen::Seen;

use super::settings_flags::{SettingsArgs, manner_of};
use super::working::{DocumentArgs, finish, read_only};
use crate::cli::exit::Finish;
use crate::cli::output::{Output, Target};
use crate::cli::{message, number};

/// Ask which documents have been seen, without adding them
///
/// Writes a JSON object a line for each, in input order: its id and place, the verdict (new,
/// duplicate, unchanged, changed or empty), and the known documents near it, nearest first.
#[derive(Args, Clone, Debug)]
pub struct QueryArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// At most so many matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", value_parser = number::within(1, 10_000)
    )]
    limit: usize,

    /// Where the lines go; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Print a summary on standard error
    #[arg(long, help_heading = "Reports")]
    summary: bool,
}

/// Asks and publishes.
pub fn run(args: &QueryArgs) -> Result<Finish> {
    let working = args.documents.begin(&args.index)?;
    let (wanted, level) = (args.settings.wanted()?, working.resources.level);
    let seen = Seen::open(&args.index, &wanted, level, &read_only())?;
    let manner = manner_of(seen.settings(), args.documents.reading());
    let sources = args.documents.once(&manner)?;
    let target = Target::new(args.output.clone());
    let temporary = target.temporary();
    let mut output = Output::create(&target, &temporary)?;
    let inputs = working.inputs(&sources, &manner);
    let asked = seen.query_inputs(inputs, args.limit, &mut |lines| output.write(lines))?;
    output.publish(0)?;
    drop(working);
    if args.summary {
        message::write(&format!(
            "{} documents: {} with a match, {} unchanged, {} changed, {} empty; {} skipped\n",
            asked.documents,
            asked.matched,
            asked.unchanged,
            asked.changed,
            asked.empty,
            asked.skipped,
        ));
    }
    Ok(finish(asked.skipped))
}
