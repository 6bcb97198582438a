//! The flags of the main job, `simtool N M`.

use std::path::PathBuf;

use clap::Args;
use simtool::jobs::main_job::MainJob;

use crate::cli::process::scaling::MAX_RUNS;
use crate::cli::screen::log::{LogForm, SummaryForm};
use crate::cli::values::number;
use crate::cli::values::size::parse_size;

/// The most threads that can be requested.
const MAX_THREADS: usize = 1024;

/// The flags of the plain form.
#[derive(Args, Clone, Debug)]
pub struct MainJobArgs {
    /// Number of features: the most frequent words of the articles, 1 to 10000
    #[arg(
        value_name = "N",
        value_parser = number::within(1, MainJob::MOST_FEATURES),
        allow_negative_numbers = true
    )]
    pub features: usize,

    /// Bits of a fingerprint: columns of the hash table, 1 to 128
    #[arg(
        value_name = "M",
        value_parser = number::within(1, MainJob::MOST_COLUMNS),
        allow_negative_numbers = true
    )]
    pub bits: usize,

    /// Directory of the four inputs and of the result, unless flags name them [default: the current
    /// one]
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
        value_parser = number::within(0, MainJob::MOST_COLUMNS),
        allow_negative_numbers = true
    )]
    pub distance: Option<usize>,

    /// Threads to work with [default: one for each processor]
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = number::within(1, MAX_THREADS),
        allow_negative_numbers = true,
        help_heading = "Resources"
    )]
    pub threads: Option<usize>,

    /// Bound on memory, such as 500M or 8G, not counting cached files [default: half of what is
    /// available]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Directory that keeps what is read from servers, for later readings and runs
    // No flattened `CacheArgs`: these flags as a whole are optional, which excludes groups in them.
    #[arg(
        long,
        value_name = "DIR",
        hide_short_help = true,
        help_heading = "Resources"
    )]
    pub cache: Option<PathBuf>,

    /// Most bytes of the cache; what was not used for longest is removed [default: 10G]
    #[arg(
        long, value_name = "SIZE", value_parser = parse_size, requires = "cache",
        hide_short_help = true, help_heading = "Resources"
    )]
    pub cache_size: Option<u64>,

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

    /// Progress on standard error [default: a bar on a terminal; elsewhere text, after ten seconds]
    ///
    /// Lines of text or JSON are one per stage and one per minute.
    // No flattened `LogArgs`: these flags as a whole are optional, which excludes groups in them.
    #[arg(
        long,
        value_name = "FORM",
        help_heading = "Reports",
        conflicts_with = "quiet"
    )]
    pub log: Option<LogForm>,

    /// No progress and no summary, whatever the duration
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    pub quiet: bool,

    /// Measure instead: run with 1, 2, 4 ... threads, write no result, print time, speed-up and
    /// efficiency of each stage as medians of this many runs
    #[arg(
        long,
        value_name = "RUNS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = number::within(1, MAX_RUNS),
        conflicts_with_all = ["output", "summary", "timings", "quiet", "log"],
        help_heading = "Reports"
    )]
    pub scaling: Option<usize>,
}
