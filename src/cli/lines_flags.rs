//! The flags of `simtool lines`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simtool::corpus::{HtmlText, Reading};
use simtool::jobs::dedup::SkippedRecords;
use simtool::jobs::passages::Action;
use simtool::jobs::passages::lines::{KeptUnit, Per};
use simtool::text::Choice;
use simtool::text::units::{Normal, UnitKind};

use super::log::{LogArgs, SummaryForm};
use super::max_skipped::MaxSkipped;
use super::method_flags::tokenizer;
use super::number;
use super::reading_flags::{FieldArgs, HTML_PARTS};
use super::resource_flags::ResourceArgs;
use super::size::parse_size;
use super::values;

/// The flags of `simtool lines`.
///
/// Counts lines, paragraphs or runs of sentences exactly, in bounded memory, and reports or removes
/// those that occur more often than --above. To resume an interrupted run, give the same command
/// again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove repeated lines, paragraphs or sentences of a dump",
    after_long_help = EXAMPLES
)]
pub struct LinesArgs {
    /// Files, directories, patterns, or - for standard input: JSON Lines, WARC, WET, Parquet,
    /// form-feed text or plain files, also compressed with gzip or zstd
    #[arg(value_name = "INPUT", required_unless_present = "files_from")]
    pub inputs: Vec<PathBuf>,

    /// Directory of the output; an unfinished run there is resumed, a finished one is not repeated
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Files that list inputs, one a line
    #[arg(long, value_name = "LIST", help_heading = "Input")]
    pub files_from: Vec<PathBuf>,

    /// Also count the units of these inputs, which come first and do not change. A boilerplate.jsonl
    /// is such an input, too: each text in it counts once
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    #[command(flatten)]
    pub fields: FieldArgs,

    /// Part of an HTML page that is its text, in any format [default: main]
    #[arg(
        long, value_name = "PART", value_parser = values::named(&HTML_PARTS),
        help_heading = "Reading"
    )]
    pub html: Option<HtmlText>,

    /// Documents larger than this are skipped and listed
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Reading"
    )]
    pub max_document: u64,

    /// What a unit is: line, paragraph (the lines between two blank lines; in a text without blank
    /// lines, each line) or sentences:N (every run of N sentences)
    #[arg(
        long, value_name = "UNIT", default_value = "line",
        value_parser = values::units(unit), hide_possible_values = true, help_heading = "Units"
    )]
    pub unit: UnitKind,

    /// Differences between units that do not count: some of case, digits (each becomes 0) and spaces
    /// (at the ends, and how many), separated by commas, or none
    #[arg(
        long, value_name = "WHAT", default_value = "spaces",
        value_parser = values::normal(normal), hide_possible_values = true, help_heading = "Units"
    )]
    pub normalize: Normal,

    /// Remove units that occur more often than this
    #[arg(
        long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..), help_heading = "Decision"
    )]
    pub above: u64,

    /// Count within groups: all, source (an input file), site (the host of the URL) or N-documents
    /// (of that many consecutive documents), such as 30000000-documents
    #[arg(
        long, value_name = "GROUP", default_value = "all",
        value_parser = values::per(per), hide_possible_values = true, help_heading = "Decision"
    )]
    pub per: Per,

    /// Which occurrence of a removed unit stays
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "first",
        help_heading = "Decision"
    )]
    pub keep: KeptName,

    /// Remove the units of this list wherever they occur, and no others: a boilerplate.jsonl, perhaps
    /// edited, or any JSON Lines with a unit in text
    #[arg(
        long, value_name = "FILE", help_heading = "Decision",
        conflicts_with_all = ["above", "per", "keep", "against"]
    )]
    pub remove_listed: Option<PathBuf>,

    /// What happens to removed units: mark (they are only reported), cut, mask (their characters
    /// become blanks of the same length) or drop-document:SHARE (documents with at least this share
    /// of their text in such units are dropped, others stay as they are)
    #[arg(
        long, value_name = "ACTION", default_value = "mark",
        value_parser = values::action(action), hide_possible_values = true, help_heading = "Decision"
    )]
    pub action: Action,

    /// Drop documents of which fewer words than this remain after a cut [default: those of which
    /// only white space remains]
    #[arg(long, value_name = "COUNT", help_heading = "Decision")]
    pub min_words: Option<u64>,

    /// Drop documents of which fewer sentences than this remain after a cut
    #[arg(long, value_name = "COUNT", help_heading = "Decision")]
    pub min_sentences: Option<u64>,

    /// Kind of words for --min-words: auto, ascii, unicode, chinese or chars [default: auto]
    #[arg(
        long, value_name = "KIND", value_parser = values::tokenizer(tokenizer),
        hide_possible_values = true, requires = "min_words", help_heading = "Decision"
    )]
    pub tokenizer: Option<Choice>,

    /// The most units in boilerplate.jsonl
    #[arg(
        long, value_name = "COUNT", default_value_t = 1000,
        value_parser = number::within(1, 10_000), help_heading = "Output"
    )]
    pub list: usize,

    /// What happens to records that could not be read where inputs are written again [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub skipped: Option<SkippedRecords>,

    /// Compress written inputs again: gzip 0 to 9, zstd 1 to 19 [default: copy unchanged members;
    /// gzip 6 and zstd 3 for others]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub compression_level: Option<u32>,

    /// Do not write page.html, which shows what goes: totals, sources, the most frequent units, and
    /// the documents that lose most, side by side
    #[arg(long, help_heading = "Output")]
    pub no_page: bool,

    /// Replace the output of an earlier run in the output directory, finished or not
    #[arg(long, help_heading = "Output")]
    pub restart: bool,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// Print a summary on standard error: the usual line, or summary.json
    #[arg(
        long, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", help_heading = "Reports"
    )]
    pub summary: Option<SummaryForm>,

    /// Print time, bytes and rate of each stage on standard error
    #[arg(long, help_heading = "Reports")]
    pub timings: bool,

    #[command(flatten)]
    pub log: LogArgs,

    /// Write nothing on standard error but errors: no progress, no result
    #[arg(long, conflicts_with_all = ["summary", "timings"], help_heading = "Reports")]
    pub quiet: bool,

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

    /// Check the command, print what it would read and write, and stop
    #[arg(long, help_heading = "Reports")]
    pub dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool lines crawl/*.jsonl.zst -o out
          The lines that occur more than once: out/boilerplate.jsonl, out/spans.jsonl, and for people
          out/page.html; no input changes
  simtool lines crawl/*.jsonl.zst -o out --above 6 --per 30000000-documents --keep none --action cut
          Without lines that occur more than 6 times in 30 million documents, in out/cut
  simtool lines crawl/*.jsonl.zst -o out --unit sentences:3 --action cut --min-words 50
          One copy of every run of three sentences
  simtool lines new/*.jsonl -o clean --remove-listed out/boilerplate.jsonl --action cut
          Without the units of a list that a person has read

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command resumes.";

/// The values of --keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeptName {
    /// The first one in each group
    First,
    /// None
    None,
}

impl KeptName {
    /// The setting.
    pub fn setting(self) -> KeptUnit {
        match self {
            KeptName::First => KeptUnit::First,
            KeptName::None => KeptUnit::None,
        }
    }
}

impl LinesArgs {
    /// How documents are read.
    pub fn reading(&self) -> Reading {
        self.fields
            .reading(self.html.unwrap_or_default(), self.max_document)
    }
}

/// Parses the value of --unit; the message is for clap.
fn unit(text: &str) -> Result<UnitKind, String> {
    UnitKind::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --normalize; the message is for clap.
fn normal(text: &str) -> Result<Normal, String> {
    Normal::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --per; the message is for clap.
fn per(text: &str) -> Result<Per, String> {
    Per::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --action; the message is for clap.
fn action(text: &str) -> Result<Action, String> {
    Action::parse(text).map_err(|error| error.to_string())
}
