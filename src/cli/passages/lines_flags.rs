//! The flags of `simtool lines`.

use std::path::PathBuf;

use clap::Args;
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::lines::Per;
use simtool::text::Choice;
use simtool::text::units::{Normal, UnitKind};

use super::{ActionArgs, OutputArgs};
use crate::cli::batch::InputArgs;
use crate::cli::dedup::method_flags::tokenizer;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::values;
use crate::cli::values::number;

/// Finds and removes boilerplate, or repeated lines, paragraphs or sentences of a dump.
///
/// By default, lines are boilerplate if they belong to a run of consecutive lines with at least 30
/// words that occurs in at least 5 documents: headers, menus, notices. Runs of lines, and with --unit
/// lines, paragraphs or runs of sentences, are counted exactly, in bounded memory, and reported or
/// removed. To resume an interrupted run, give the same command again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove boilerplate, repeated lines, paragraphs or sentences of a dump",
    after_long_help = EXAMPLES
)]
pub struct LinesArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Also count the units of these inputs, which come first and do not change. A boilerplate.jsonl
    /// is such an input, too: each text in it counts once
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: DocumentReadingArgs,

    /// What a unit is: run:N (the shortest runs of lines with at least N words; blank lines do not
    /// count, and a line with a word counts as at least 5), line, paragraph (the lines between two
    /// blank lines; in a text without blank lines, each line) or sentences:N (every run of N sentences)
    #[arg(
        long, value_name = "UNIT", default_value = "run:30",
        value_parser = values::units(unit), hide_possible_values = true, help_heading = "Units"
    )]
    pub unit: UnitKind,

    /// Differences between units that do not count: some of form (of characters, as in words), case,
    /// digits (each becomes 0) and spaces (at the ends, and how many), separated by commas, or none
    #[arg(
        long, value_name = "WHAT", default_value = "form,spaces",
        value_parser = values::normal(normal), hide_possible_values = true, help_heading = "Units"
    )]
    pub normalize: Normal,

    /// Remove units that occur more often than this [default: 1, but for --unit run:N]
    #[arg(
        long, value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..), help_heading = "Decision"
    )]
    pub above: Option<u64>,

    /// Remove units that occur in at least this many documents [default: 5 for --unit run:N]
    #[arg(
        long, value_name = "COUNT", conflicts_with = "above",
        value_parser = clap::value_parser!(u64).range(2..), help_heading = "Decision"
    )]
    pub in_documents: Option<u64>,

    /// Count only within groups: global (all documents), source (an input file), site (the host of the
    /// URL) or N-documents (of that many consecutive documents), such as 30000000-documents
    #[arg(
        long, value_name = "SCOPE", default_value = "global",
        value_parser = values::per(per), hide_possible_values = true, help_heading = "Decision"
    )]
    pub within: Per,

    /// Which occurrence of a removed unit stays
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "first",
        help_heading = "Decision"
    )]
    pub keep: KeptOccurrence,

    /// Remove the units of this list wherever they occur, and no others: a boilerplate.jsonl, perhaps
    /// edited, or any JSON Lines with a unit in text
    #[arg(
        long, value_name = "FILE", help_heading = "Decision",
        conflicts_with_all = ["above", "in_documents", "within", "keep", "against"]
    )]
    pub remove_listed: Option<PathBuf>,

    #[command(flatten)]
    pub action: ActionArgs,

    /// Kind of words for --unit run:N and --min-words: auto, ascii, unicode, chars or code [default:
    /// auto]
    #[arg(
        long, value_name = "KIND", value_parser = values::tokenizer(tokenizer),
        hide_possible_values = true, help_heading = "Decision"
    )]
    pub tokenizer: Option<Choice>,

    /// The most units in boilerplate.jsonl
    #[arg(
        long, value_name = "COUNT", default_value_t = 1000,
        value_parser = number::within(1, 10_000), help_heading = "Output"
    )]
    pub list: usize,

    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  simtool lines crawl/*.jsonl.zst -o out
          Headers, menus and notices: out/boilerplate.jsonl, out/spans.jsonl, and for people
          out/page.html; no input changes
  simtool lines crawl/*.jsonl.zst -o out --unit line --above 6 --within 30000000-documents --keep none --action cut
          Without lines that occur more than 6 times in 30 million documents, in out/cut
  simtool lines CC-MAIN-*.warc.gz -o out --action cut --write-format jsonl.zst
          The texts of the pages with one copy of all boilerplate, in out/cut
  simtool lines crawl/*.jsonl.zst -o out --unit sentences:3 --action cut --min-words 50
          One copy of every run of three sentences
  simtool lines new/*.jsonl -o clean --remove-listed out/boilerplate.jsonl --action cut
          Without the units of a list that a person has read

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command resumes.";

/// Parses the value of --unit; the message is for clap.
fn unit(text: &str) -> Result<UnitKind, String> {
    UnitKind::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --normalize; the message is for clap.
fn normal(text: &str) -> Result<Normal, String> {
    Normal::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --within; the message is for clap.
fn per(text: &str) -> Result<Per, String> {
    Per::parse(text).map_err(|error| error.to_string())
}
