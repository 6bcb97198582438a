//! `simtool index query`: looks documents up without adding them.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use simtool::Result;
use simtool::io::remote::Client;
use simtool::jobs::seen::Seen;

use super::documents::{DocumentArgs, read_only};
use super::settings_flags::{SettingsArgs, input_settings_of};
use crate::cli::process::exit::Finish;
use crate::cli::screen::amount::counted;
use crate::cli::screen::message;
use crate::cli::values::number;

/// The most matches of a document that can be requested.
pub const MAX_MATCHES: usize = 10_000;

/// Look up which documents have been seen, without adding them
///
/// Writes a JSON object a line for each, in input order: its id and place, the verdict (new,
/// duplicate, unchanged, changed or empty), whether it would be kept, the known document of which it
/// is a copy, and others near it, with their payloads.
#[derive(Args, Clone, Debug)]
pub struct QueryArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,

    #[command(flatten)]
    pub documents: DocumentArgs,

    #[command(flatten)]
    pub settings: SettingsArgs,

    /// The most matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", value_parser = number::within(1, MAX_MATCHES)
    )]
    pub limit: usize,

    /// File of the lines; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Print a summary on standard error
    #[arg(long, help_heading = "Reports")]
    pub summary: bool,
}

/// Queries the index and publishes the answers.
pub fn run(args: &QueryArgs, client: &Client) -> Result<Finish> {
    let wanted = args.settings.wanted(&args.index)?;
    let session = args.documents.begin(&args.index, client)?;
    let seen = Seen::open(&args.index, &wanted, session.resources.level, &read_only())?;
    let input_settings = input_settings_of(seen.settings(), args.documents.reading());
    let (files, output) = (args.settings.files(), Some(args.output.as_path()));
    let found = session.process(&input_settings, files, output, |inputs, lines, skipped| {
        seen.query_inputs(inputs, args.limit, lines, skipped)
    })?;
    let counts = &found.result;
    let text = format!(
        "{}: {} with a match, {} unchanged, {} changed, {} empty; {} skipped\n",
        counted(counts.documents, "document"),
        counts.matched,
        counts.unchanged,
        counts.changed,
        counts.empty,
        counts.skipped,
    );
    let fields = json!({
        "documents": counts.documents,
        "matched": counts.matched,
        "unchanged": counts.unchanged,
        "changed": counts.changed,
        "empty": counts.empty,
        "skipped": counts.skipped,
    });
    message::warn_of_decoding_problems(&counts.doubts, &found.sources);
    args.documents.log().summary(args.summary, &text, &fields);
    Ok(Finish::of_skipped(counts.skipped))
}
