//! `simtool index add`: look for documents and add them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::run::seen::{Listing, Seen};

use super::build::PayloadName;
use super::line_file::LineFile;
use super::query::MOST_MATCHES;
use super::settings_flags::{SettingsArgs, manner_of};
use super::working::{DocumentArgs, tell, tell_accidents};
use crate::cli::exit::Finish;
use crate::cli::{message, number};

/// Look for documents and add them, each in one step
///
/// A document whose id is there with the same sketch stays as it is; one with another sketch is
/// replaced. A document without an id is called by its file and offset, and replaces no other text
/// that was there. What was committed before an interruption stays: run the command again for the rest
/// (of those committed before, it then says that they are unchanged).
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// What is kept with a document and comes back with it: url, date, both (as a JSON object) or
    /// none
    #[arg(long, value_name = "FIELDS", default_value = "none")]
    payload: PayloadName,

    /// Write a JSON object a line for each document, in input order: its id and place, the verdict
    /// (new, duplicate, unchanged, changed with its distance, or empty), whether it was added, and
    /// the known documents near it, nearest first; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// At most so many matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", requires = "output",
        value_parser = number::within(1, MOST_MATCHES)
    )]
    limit: usize,
}

/// Adds, and says what was new.
pub fn run(args: &AddArgs) -> Result<Finish> {
    let working = args.documents.begin(&args.index)?;
    let (wanted, level) = (args.settings.wanted()?, working.resources.level);
    let seen = Seen::open(&args.index, &wanted, level, &working.options())?;
    let manner = manner_of(seen.settings(), args.documents.reading());
    let mut files = args.settings.files();
    files.add_directory(&args.index);
    let sources = working.sources(&args.documents, &manner.reading, &mut files)?;
    let temp_dir = args.documents.temp_dir();
    let output = LineFile::new(args.output.as_deref(), "--output", &mut files, temp_dir)?;
    let skipped = args.documents.skipped_report();
    let skipped = LineFile::new(skipped, "--skipped-report", &mut files, temp_dir)?;
    let (mut lines, mut skips) = (output.begin()?, skipped.begin()?);
    let mut take = |more: &[u8]| lines.write(more);
    let listing = args.output.is_some().then_some(Listing {
        limit: args.limit,
        take: &mut take,
    });
    let inputs = working.inputs(&sources, &manner);
    let payload = args.payload.into();
    let added = seen.add_inputs(inputs, payload, listing, &mut |more| skips.write(more))?;
    lines.publish()?;
    skips.publish()?;
    drop(working);
    tell_accidents(&seen);
    message::warn_of_doubts(&added.doubts, &sources);
    let screen_is_taken = output.is_screen() || skipped.is_screen();
    tell(&added, args.documents.log(), screen_is_taken)
}
