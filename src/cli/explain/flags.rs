//! The flags of `simtool explain`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::cli::dedup::method_flags;
use crate::cli::reading::reading_flags::ReadingArgs;
use crate::cli::values::number;

/// Shows why two documents are near-duplicates, or not.
///
/// Shows two documents side by side: the verdict of every method, and what they share. Reads them
/// as `simtool dedup` does with the same flags.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Show why two documents are near-duplicates, or not",
    after_long_help = EXAMPLES
)]
pub struct ExplainArgs {
    /// A document: a file that holds one, a place (FILE:OFFSET, or FILE:MEMBER+OFFSET in a
    /// compressed file), or with --in its id
    #[arg(value_name = "A", required_unless_present_any = ["pair", "hit", "inputs"])]
    pub a: Option<OsString>,

    /// The other document
    #[arg(value_name = "B")]
    pub b: Option<OsString>,

    /// Look the ids up in these inputs: files, directories or patterns, all of which are read; A
    /// and B may also follow them
    #[arg(long = "in", value_name = "INPUT", num_args = 1.., conflicts_with_all = ["pair", "hit"], help_heading = "Documents")]
    pub inputs: Vec<PathBuf>,

    /// Take the two documents from a line of this duplicates.jsonl or refused.jsonl; files that are
    /// not in the current directory are looked for in the directories above it
    #[arg(
        long,
        value_name = "FILE",
        requires = "id",
        conflicts_with = "a",
        help_heading = "Documents"
    )]
    pub pair: Option<PathBuf>,

    /// Take a contaminated or repeated range from this spans.jsonl of decontaminate or spans, and
    /// the reference item or the kept text that it repeats; they are read as that run did
    #[arg(
        long,
        value_name = "FILE",
        requires = "id",
        conflicts_with_all = ["a", "pair"],
        help_heading = "Documents"
    )]
    pub hit: Option<PathBuf>,

    /// The line of --pair or --hit: the id of the dropped document, or of that with the range
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "a",
        help_heading = "Documents"
    )]
    pub id: Option<OsString>,

    /// The number of the range in the line of --hit, from 1 on [default: 1]
    #[arg(
        long, value_name = "NUMBER", requires = "hit", conflicts_with_all = ["a", "pair"],
        value_parser = number::within(1, 1 << 31), help_heading = "Documents"
    )]
    pub range: Option<usize>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Least similarity of duplicates: the share of shingles in common, |A ∩ B| / |A ∪ B|
    #[arg(
        long, value_name = "SHARE", default_value = "0.8", value_parser = method_flags::thousandths,
        help_heading = "Methods"
    )]
    pub similarity: u32,

    /// Words in a shingle [default: 5, or 9 characters]
    #[arg(
        long, value_name = "WORDS", value_parser = number::within(1, 100),
        help_heading = "Methods"
    )]
    pub shingle: Option<usize>,

    /// Largest Hamming distance of fingerprints
    #[arg(
        long, value_name = "K", default_value = "6", value_parser = number::within(0, 32),
        help_heading = "Methods"
    )]
    pub distance: usize,

    /// Count the common words of nine languages in fingerprints, which leave them out otherwise
    #[arg(long, help_heading = "Methods")]
    pub keep_stop_words: bool,

    /// Share of the pairs of the given similarity that MinHash has to propose
    #[arg(
        long, value_name = "SHARE", default_value = "0.99", value_parser = method_flags::recall,
        help_heading = "Methods"
    )]
    pub recall: f64,

    /// Apply a further method: NAME or NAME:parameter=value,... (may be repeated), or all; without
    /// corpus statistics
    #[arg(long, value_name = "METHOD", help_heading = "Methods")]
    pub method: Vec<String>,

    /// Columns to write in [default: those of the terminal, or 100]
    #[arg(
        long, value_name = "COLUMNS", value_parser = number::within(40, 1000),
        help_heading = "Output"
    )]
    pub width: Option<usize>,

    /// Show everything, including long passages that are equal
    #[arg(long, help_heading = "Output")]
    pub full: bool,

    /// The verdicts as a JSON object, without the texts
    #[arg(long, conflicts_with_all = ["full", "width"], help_heading = "Output")]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool explain old.txt new.txt
          Two files, each of which is a document
  simtool explain --in crawl/*.jsonl.gz page-17 page-42
          Two ids, looked up in the inputs
  simtool explain crawl.jsonl:0 crawl.jsonl:81733
          Two places, as in duplicates.jsonl: file and start
  simtool explain dump.warc.gz:5120+0 dump.warc.gz:99+0 --html visible
          In a compressed file: the member's offset, and the offset within
  simtool explain --pair out/duplicates.jsonl --id page-17
          Why page-17 was dropped; from any directory, if dedup ran in one above out
  simtool explain --hit out/spans.jsonl --id page-17 --range 2
          The second range of page-17 that decontaminate found, beside the reference item
  simtool explain old.txt new.txt --method all
          The scores of all methods
  simtool explain old.txt new.txt --json
          The verdicts only, for a program

What it shows:
  Words that only one of the texts has are shown as [-gone-] on the left and as {+come+} on the \
right, words that the other one has elsewhere as <~moved~>; on a terminal in colour, unless \
NO_COLOR is set. Differences in white space are not shown. … 120 words … replaces a long passage.";
