//! `simtool index query`: ask for documents without adding them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use simtool::Result;
use simtool::corpus::Reading;
use simtool::io::InputFiles;
use simtool::run::collection::Inputs;
use simtool::run::seen::{Seen, Wanted};
use simtool::run::{Progress, Resources};

use super::line_file::LineFile;
use super::settings_flags::{SettingsArgs, manner_of};
use super::working::{DocumentArgs, Sources, finish, read_only};
use crate::cli::exit::Finish;
use crate::cli::interrupt::stoppable;
use crate::cli::log::Log;
use crate::cli::watch::Watch;
use crate::cli::{message, number};

/// The most matches of a document that can be asked for.
pub const MOST_MATCHES: usize = 10_000;

/// Ask which documents have been seen, without adding them
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

    /// At most so many matches of a document
    #[arg(
        long, value_name = "COUNT", default_value = "10", value_parser = number::within(1, MOST_MATCHES)
    )]
    limit: usize,

    /// Where the lines go; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Print a summary on standard error
    #[arg(long, help_heading = "Reports")]
    summary: bool,
}

/// Documents that are asked of an index, and what becomes of the answers.
pub struct Question<'a> {
    pub index: &'a Path,
    pub wanted: Wanted,
    pub inputs: &'a [PathBuf],
    /// How they are read, but for what the index has frozen.
    pub reading: Reading,
    /// What is read besides the inputs and the index.
    pub files: InputFiles,
    pub resources: Resources,
    /// Where lines for standard output wait, if the user says so.
    pub temp_dir: Option<&'a Path>,
    pub limit: usize,
    pub output: &'a Path,
    /// Where skipped documents are listed, if they are.
    pub skipped: Option<&'a Path>,
    pub summary: bool,
    /// How progress and result are told.
    pub log: Log,
}

/// Asks and publishes.
pub fn run(args: &QueryArgs) -> Result<Finish> {
    let documents = &args.documents;
    ask(Question {
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

/// Asks and publishes.
pub fn ask(mut question: Question<'_>) -> Result<Finish> {
    let mut files = std::mem::take(&mut question.files);
    files.add_directory(question.index);
    let (index, resources) = (question.index, &question.resources);
    let seen = Seen::open(index, &question.wanted, resources.level, &read_only())?;
    let manner = manner_of(seen.settings(), question.reading);
    let progress = Arc::new(Progress::new());
    let stoppable = stoppable(&progress);
    let watch = Watch::start(&progress, question.log, None);
    let reading = &manner.reading;
    let sources = Sources::find(question.inputs, reading, resources, &progress, &mut files)?;
    let inputs = Inputs {
        sources: &sources,
        manner: &manner,
        resources,
        progress: &progress,
    };
    let (output, temp_dir) = (Some(question.output), question.temp_dir);
    let output = LineFile::new(output, "--output", &mut files, temp_dir)?;
    let skipped = LineFile::new(question.skipped, "--skipped-report", &mut files, temp_dir)?;
    let (mut lines, mut skips) = (output.begin()?, skipped.begin()?);
    let mut write = |more: &[u8]| lines.write(more);
    let asked = seen.query_inputs(inputs, question.limit, &mut write, &mut |more| {
        skips.write(more)
    })?;
    lines.publish()?;
    skips.publish()?;
    drop((watch, stoppable));
    let text = format!(
        "{} documents: {} with a match, {} unchanged, {} changed, {} empty; {} skipped\n",
        asked.documents, asked.matched, asked.unchanged, asked.changed, asked.empty, asked.skipped,
    );
    let fields = json!({
        "documents": asked.documents,
        "matched": asked.matched,
        "unchanged": asked.unchanged,
        "changed": asked.changed,
        "empty": asked.empty,
        "skipped": asked.skipped,
    });
    question.log.summary(question.summary, &text, &fields);
    message::warn_of_doubts(&asked.doubts, &sources);
    Ok(finish(asked.skipped))
}
