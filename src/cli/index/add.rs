//! `simtool index add`: looks documents up and adds them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::io::remote::Client;
use simtool::jobs::seen::{Listing, Seen};

use super::documents::{DocumentArgs, report_added};
use super::query::MAX_MATCHES;
use super::settings_flags::{SettingsArgs, input_settings_of};
use super::stored_flags::StoredArgs;
use crate::cli::process::exit::Finish;
use crate::cli::screen::message;
use crate::cli::values::number;

/// Look documents up and add them, each in one step
///
/// The decisions about the documents of all additions are those of one `simtool dedup` of all of
/// them. A document whose id and text are in the same dump already is unchanged: it was sent
/// twice. A document without an id is named by its file and offset. After an interruption, committed
/// documents stay in the index: run the command again for the rest (the committed ones are then
/// reported as unchanged).
#[derive(Args, Clone, Debug)]
pub struct AddArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    stored: StoredArgs,

    /// Write a JSON object a line for each document, in input order: its id and place, the verdict
    /// (new, duplicate, unchanged, changed with its distance, or empty), whether it is kept and was
    /// added, the known document of which it is a copy, and others near it; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The most matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", requires = "output",
        value_parser = number::within(1, MAX_MATCHES)
    )]
    limit: usize,
}

/// Adds documents and reports the counts.
pub fn run(args: &AddArgs, client: &Client) -> Result<Finish> {
    let session = args.documents.begin(&args.index, client)?;
    let (wanted, level) = (args.settings.wanted(&args.index)?, session.resources.level);
    let seen = Seen::open(&args.index, &wanted, level, &session.options())?;
    let input_settings = input_settings_of(seen.settings(), args.documents.reading());
    let (files, output) = (args.settings.files(), args.output.as_deref());
    let added = session.process(&input_settings, files, output, |inputs, take, skipped| {
        let limit = args.limit;
        let listing = output.is_some().then_some(Listing { limit, take });
        seen.add_inputs(inputs, args.stored.payload_and_dump(), listing, skipped)
    })?;
    message::warn_of_decoding_problems(&added.result.doubts, &added.sources);
    report_added(&added.result, args.documents.log(), added.has_lines)
}
