//! `simtool N M`: the main job.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use simtool::run::matching::Job;
use simtool::run::{Progress, Stage, StagePlan};
use simtool::{Error, ErrorKind, Result};

use super::log::{Form, LogArgs, LogForm};
use super::output::Output;
use super::plan::Plan;
use super::size::parse_size;
use super::watch::Watch;
use super::{interrupt, message, number, scaling, summary, timings};

/// The most threads that can be asked for.
const MOST_THREADS: usize = 1024;
/// The most runs that a measurement repeats.
const MOST_RUNS: usize = 1000;

/// The stages of the plain form.
const STAGES: [Stage; 5] = [
    Stage::Sample,
    Stage::Count,
    Stage::Rank,
    Stage::Fingerprint,
    Stage::Search,
];

/// The flags of the plain form.
#[derive(Args, Clone, Debug)]
pub struct MatchArgs {
    /// Number of features: the most frequent words of the articles, 1 to 10000
    #[arg(
        value_name = "N",
        value_parser = number::within(1, Job::MOST_FEATURES),
        allow_negative_numbers = true
    )]
    pub features: usize,

    /// Bits of a fingerprint: columns of the hash table, 1 to 128
    #[arg(
        value_name = "M",
        value_parser = number::within(1, Job::MOST_COLUMNS),
        allow_negative_numbers = true
    )]
    pub bits: usize,

    /// Directory of the four inputs and of the result, where no flag names them [default: the
    /// current one]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub dir: Option<PathBuf>,

    /// Files of articles, read in this order as one; - is standard input [default: DIR/article.txt]
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    pub articles: Vec<PathBuf>,

    /// Files of samples, read in this order as one; - is standard input [default: DIR/sample.txt]
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    pub samples: Vec<PathBuf>,

    /// File of words that do not count [default: DIR/stopwords.txt]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub stopwords: Option<PathBuf>,

    /// File of hash bits, one row for each feature [default: DIR/hashvalue.txt]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub hashes: Option<PathBuf>,

    /// File of the result; - is standard output, without the first block after it [default:
    /// DIR/result.txt]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub output: Option<PathBuf>,

    /// Directory of temporary files [default: that of the result]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub temp_dir: Option<PathBuf>,

    /// Largest Hamming distance of articles that are listed, at most M [default: 3]
    #[arg(
        long,
        value_name = "K",
        value_parser = number::within(0, Job::MOST_COLUMNS),
        allow_negative_numbers = true
    )]
    pub distance: Option<usize>,

    /// Threads to work with [default: one for each processor]
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = number::within(1, MOST_THREADS),
        allow_negative_numbers = true,
        help_heading = "Resources"
    )]
    pub threads: Option<usize>,

    /// Bound on memory, such as 500M or 8G, not counting cached files [default: half of what is
    /// available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Print a summary on standard error
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Reports"
    )]
    pub summary: Option<SummaryForm>,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, help_heading = "Reports")]
    pub timings: bool,

    /// Progress on standard error: lines of text or JSON, one a stage and one a minute, or none
    /// [default: a progress bar on a terminal; elsewhere text, after ten seconds]
    // No flattened `LogArgs`: these flags as a whole are optional, which excludes groups in them.
    #[arg(
        long,
        value_name = "FORM",
        help_heading = "Reports",
        conflicts_with = "quiet"
    )]
    pub log: Option<LogForm>,

    /// No progress and no summary, however long it takes
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    pub quiet: bool,

    /// Measure instead: run with 1, 2, 4 ... threads, write no result, print time, speed-up and
    /// efficiency of each stage as medians of so many runs
    #[arg(
        long,
        value_name = "RUNS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = number::within(1, MOST_RUNS),
        conflicts_with_all = ["output", "summary", "timings", "quiet", "log"],
        help_heading = "Reports"
    )]
    pub scaling: Option<usize>,
}

/// The values of --summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryForm {
    /// One line for people
    Text,
    /// One JSON object for programs
    Json,
}

/// Writes the result, then prints its first block and what was asked for besides.
///
/// # Errors
/// Whatever stands in the way; the target is as it was then.
pub fn run(args: &MatchArgs) -> Result<()> {
    let begin = Instant::now();
    let plan = Plan::new(args)?;
    let inputs = plan.sources.open(&plan.resources.temporary)?;
    if let Some(runs) = args.scaling {
        return scaling::run(&plan, &inputs, runs);
    }
    let mut output = Output::create(&plan.target, &plan.resources.temporary)?;

    let progress = Arc::new(Progress::new());
    let stoppable = interrupt::stoppable(&progress);
    let log = LogArgs { log: args.log }.log(args.quiet);
    progress.expect(STAGES.map(StagePlan::untimed).into());
    let watch = Watch::start(&progress, log, None);
    let outcome = inputs.confirm(&progress, || {
        let sink = &mut |bytes: &[u8]| output.write(bytes);
        plan.job
            .run(&inputs.bytes(), &plan.resources, &progress, sink)
    });
    drop(watch);
    let seen = outcome
        .and_then(|seen| progress.check().map(|()| seen))
        .map_err(|error| explain_stop(error, &plan))?;
    drop(stoppable);
    output.publish(seen.first_block_bytes)?;

    let time = begin.elapsed();
    if args.timings {
        message::write(&timings::table(&progress.finished(), time));
    }
    let took_long = time > log.patience && log.form != Form::None;
    match args.summary {
        Some(SummaryForm::Json) => message::write(&summary::json(&seen, &plan, time)),
        Some(SummaryForm::Text) => message::write(&summary::text(&seen, time)),
        None if took_long => log.result(
            &summary::text(&seen, time),
            &summary::fields(&seen, &plan, time),
        ),
        None => {}
    }
    Ok(())
}

/// Says what an interruption left.
fn explain_stop(error: Error, plan: &Plan) -> Error {
    match error.kind() {
        ErrorKind::Interrupted => {
            let message = format!("interrupted: {} is as it was", plan.target.name());
            Error::new(ErrorKind::Interrupted, message)
        }
        _ => error,
    }
}
