//! `simtool index add`: looks documents up and adds them.

use std::path::PathBuf;

use clap::Args;
use simtool::Result;
use simtool::io::remote::Client;
use simtool::jobs::seen::{Listing, Payload, Seen};

use super::build::PAYLOADS;
use super::documents::{DocumentArgs, report_added};
use super::query::MAX_MATCHES;
use super::settings_flags::{SettingsArgs, input_settings_of};
use crate::cli::process::exit::Finish;
use crate::cli::screen::message;
use crate::cli::values::{self, number};

/// Look documents up and add them, each in one step
///
/// The documents of all additions, one after another, are decided about as by one `simtool dedup` of
/// all of them. A document whose id and text are in the same dump already is unchanged: it was sent
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

    /// Data to store with a document: url, date, both (as a JSON object) or none
    #[arg(
        long, value_name = "FIELDS", default_value = "none",
        value_parser = values::named(&PAYLOADS)
    )]
    payload: Payload,

    /// Label of the dump that the documents belong to, such as that of a crawl; one that is removed
    /// with `index remove --dump LABEL` leaves the index as if it had never been added
    #[arg(
        long,
        value_name = "LABEL",
        default_value = "",
        hide_default_value = true
    )]
    dump: String,

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
        seen.add_inputs(inputs, (args.payload, &args.dump), listing, skipped)
    })?;
    message::warn_of_decoding_problems(&added.result.doubts, &added.sources);
    report_added(&added.result, args.documents.log(), added.has_lines)
}
