//! `simtool index add`: looks documents up and adds them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::jobs::seen::{Listing, Seen};

use super::build::PayloadName;
use super::line_file::LineFile;
use super::query::MOST_MATCHES;
use super::session::{DocumentArgs, report_added, warn_of_accidents};
use super::settings_flags::{SettingsArgs, input_settings_of};
use crate::cli::exit::Finish;
use crate::cli::{message, number};

/// Look documents up and add them, each in one step
///
/// A document whose id is in the index with the same sketch does not change it; one with another
/// sketch replaces the earlier one. A document without an id is named by its file and offset, and
/// replaces no other text. After an interruption, committed documents stay in the index: run the
/// command again for the rest (the committed ones are then reported as unchanged).
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// Data to store with a document: url, date, both (as a JSON object) or none
    #[arg(long, value_name = "FIELDS", default_value = "none")]
    payload: PayloadName,

    /// Write a JSON object a line for each document, in input order: its id and place, the verdict
    /// (new, duplicate, unchanged, changed with its distance, or empty), whether it was added, and
    /// the known documents near it, nearest first; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The most matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", requires = "output",
        value_parser = number::within(1, MOST_MATCHES)
    )]
    limit: usize,
}

/// Adds documents and reports the counts.
pub fn run(args: &AddArgs) -> Result<Finish> {
    let session = args.documents.begin(&args.index)?;
    let (wanted, level) = (args.settings.wanted()?, session.resources.level);
    let seen = Seen::open(&args.index, &wanted, level, &session.options())?;
    let input_settings = input_settings_of(seen.settings(), args.documents.reading());
    let mut files = args.settings.files();
    files.add_directory(&args.index);
    let sources = session.sources(&args.documents, &input_settings.reading, &mut files)?;
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
    let inputs = session.inputs(&sources, &input_settings);
    let payload = args.payload.into();
    let added = seen.add_inputs(inputs, payload, listing, &mut |more| skips.write(more))?;
    lines.publish()?;
    skips.publish()?;
    drop(session);
    warn_of_accidents(&seen);
    message::warn_of_doubts(&added.doubts, &sources);
    let has_lines = output.is_screen() || skipped.is_screen();
    report_added(&added, args.documents.log(), has_lines)
}
