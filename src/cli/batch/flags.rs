//! The flags of inputs and of the run.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;

use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::process::scaling::ScalingArgs;
use crate::cli::reading::max_skipped::MaxSkipped;
use crate::cli::screen::log::{Log, LogArgs, SummaryForm};
use crate::cli::values;

/// The input and the output directory.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Files, directories, patterns, or - for standard input: JSON Lines, WARC, WET, Parquet,
    /// form-feed text or plain files, also compressed with gzip or zstd
    #[arg(value_name = "INPUT", required_unless_present = "files_from")]
    pub inputs: Vec<PathBuf>,

    /// Directory of the output; an unfinished run there is resumed, a finished one is not repeated
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Files that list inputs, one a line; they may be compressed, and on a server
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub files_from: Vec<PathBuf>,

    /// Read only these names of each list: 0..100 are the first hundred
    #[arg(
        long, value_name = "FIRST..END", value_parser = values::range, requires = "files_from",
        help_heading = "Input"
    )]
    pub take: Option<Range<u64>>,
}

/// What becomes of earlier output, what the run may use, and what it reports.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Replace the output of an earlier run in the output directory, finished or not
    #[arg(long, conflicts_with = "scaling", help_heading = "Output")]
    pub restart: bool,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// Print a summary on standard error: lines for people, or summary.json
    #[arg(
        long, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", conflicts_with = "scaling", help_heading = "Reports"
    )]
    pub summary: Option<SummaryForm>,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, conflicts_with = "scaling", help_heading = "Reports")]
    pub timings: bool,

    #[command(flatten)]
    pub scaling: ScalingArgs,

    #[command(flatten)]
    log: LogArgs,

    /// Write nothing on standard error but errors: no plan, no progress, no result
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    quiet: bool,

    /// Exit with code 3 only if more documents than this were skipped, of the input or of
    /// --against: COUNT or PERCENT% [default: 0]
    #[arg(
        long,
        value_name = "LIMIT",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Reports"
    )]
    pub max_skipped: MaxSkipped,

    /// Check the command, print what it would read and write and how long it would take, and stop
    #[arg(long, conflicts_with = "scaling", help_heading = "Reports")]
    pub dry_run: bool,
}

impl InputArgs {
    /// The names of inputs and of lists, as they were given.
    pub fn arguments(&self) -> Vec<PathBuf> {
        [&self.inputs[..], &self.files_from].concat()
    }
}

impl RunArgs {
    /// The log of the run.
    pub fn log(&self) -> Log {
        self.log.log(self.quiet)
    }
}
