//! `simtool index query`: looks documents up without adding them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use simtool::Result;
use simtool::corpus::Reading;
use simtool::engine::collection::Inputs;
use simtool::engine::{Progress, Resources};
use simtool::io::InputFiles;
use simtool::jobs::seen::{ExpectedSettings, Seen};

use super::line_file::LineFile;
use super::session::{DocumentArgs, Sources, read_only};
use super::settings_flags::{SettingsArgs, input_settings_of};
use crate::cli::exit::Finish;
use crate::cli::interrupt::stoppable;
use crate::cli::log::Log;
use crate::cli::watch::Watch;
use crate::cli::{message, number};

/// The most matches of a document that can be requested.
pub const MOST_MATCHES: usize = 10_000;

/// Look up which documents have been seen, without adding them
///
/// Writes a JSON object a line for each, in input order: its id and place, the verdict (new,
/// duplicate, unchanged, changed or empty), and the known documents near it, nearest first, with
/// their payloads.
#[derive(Args, Clone, Debug)]
pub struct QueryArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    #[command(flatten)]
    documents: DocumentArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// The most matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", value_parser = number::within(1, MOST_MATCHES)
    )]
    limit: usize,

    /// File of the lines; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Print a summary on standard error
    #[arg(long, help_heading = "Reports")]
    summary: bool,
}

/// A query of an index, with the destination of its answers.
pub struct IndexQuery<'a> {
    pub index: &'a Path,
    pub wanted: ExpectedSettings,
    pub inputs: &'a [PathBuf],
    /// How inputs are read, apart from the settings of the index.
    pub reading: Reading,
    /// The files that are read besides the inputs and the index.
    pub files: InputFiles,
    pub resources: Resources,
    /// The directory of lines for standard output until they are published, if the user names one.
    pub temp_dir: Option<&'a Path>,
    pub limit: usize,
    pub output: &'a Path,
    /// The file that lists skipped documents, if requested.
    pub skipped: Option<&'a Path>,
    pub summary: bool,
    /// How progress and result are reported.
    pub log: Log,
}

/// Queries the index and publishes the answers.
pub fn run(args: &QueryArgs) -> Result<Finish> {
    let documents = &args.documents;
    run_query(IndexQuery {
        index: &args.index,
        wanted: args.settings.wanted()?,
        inputs: documents.inputs(),
        reading: documents.reading(),
        files: args.settings.files(),
        resources: documents.resources(&args.index)?,
        temp_dir: documents.temp_dir(),
        limit: args.limit,
        output: &args.output,
        skipped: documents.skipped_report(),
        summary: args.summary,
        log: documents.log(),
    })
}

/// Queries the index and publishes the answers.
pub fn run_query(mut query: IndexQuery<'_>) -> Result<Finish> {
    let mut files = std::mem::take(&mut query.files);
    files.add_directory(query.index);
    let (index, resources) = (query.index, &query.resources);
    let seen = Seen::open(index, &query.wanted, resources.level, &read_only())?;
    let input_settings = input_settings_of(seen.settings(), query.reading);
    let progress = Arc::new(Progress::new());
    let stoppable = stoppable(&progress);
    let watch = Watch::start(&progress, query.log, None);
    let reading = &input_settings.reading;
    let sources = Sources::find(query.inputs, reading, resources, &progress, &mut files)?;
    let inputs = Inputs {
        sources: &sources,
        settings: &input_settings,
        resources,
        progress: &progress,
    };
    let (output, temp_dir) = (Some(query.output), query.temp_dir);
    let output = LineFile::new(output, "--output", &mut files, temp_dir)?;
    let skipped = LineFile::new(query.skipped, "--skipped-report", &mut files, temp_dir)?;
    let (mut lines, mut skips) = (output.begin()?, skipped.begin()?);
    let mut write = |more: &[u8]| lines.write(more);
    let counts = seen.query_inputs(inputs, query.limit, &mut write, &mut |more| {
        skips.write(more)
    })?;
    lines.publish()?;
    skips.publish()?;
    drop((watch, stoppable));
    let text = format!(
        "{} documents: {} with a match, {} unchanged, {} changed, {} empty; {} skipped\n",
        counts.documents,
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
    message::warn_of_doubts(&counts.doubts, &sources);
    query.log.summary(query.summary, &text, &fields);
    Ok(Finish::of_skipped(counts.skipped))
}
