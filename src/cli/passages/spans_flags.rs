//! The flags of `simtool spans`.

use std::path::PathBuf;

use clap::Args;
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::spans::Least;
use simtool::text::Choice;
use simtool::text::units::Snap;

use super::{ActionArgs, OutputArgs};
use crate::cli::batch::InputArgs;
use crate::cli::dedup::method_flags::tokenizer;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::values::number;
use crate::cli::values::{self, Named};

/// Finds and removes repeated stretches of text of a dump.
///
/// Finds all stretches of at least --min words or bytes that occur earlier, in any document, exactly
/// and in bounded memory, and reports or removes them. The first copy stays. To resume an
/// interrupted run, give the same command again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove repeated stretches of text of a dump",
    after_long_help = EXAMPLES
)]
pub struct SpansArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Also remove what occurs in these inputs, which come first and do not change
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Input")]
    pub against: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: DocumentReadingArgs,

    /// The least length of a repeated stretch: of words (50w), which are compared without regard to
    /// case and to what is between them, or of bytes (500b)
    #[arg(
        long, value_name = "LENGTH", default_value = "50w",
        value_parser = values::least(least), hide_possible_values = true, help_heading = "Decision"
    )]
    pub min: Least,

    /// Kind of words: auto, ascii, unicode, chars or code
    #[arg(
        long, value_name = "KIND", default_value = "auto",
        value_parser = values::tokenizer(tokenizer), hide_possible_values = true,
        help_heading = "Decision"
    )]
    pub tokenizer: Choice,

    /// Which copy of a stretch stays
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "first",
        help_heading = "Decision"
    )]
    pub keep: KeptOccurrence,

    /// Shrink what is removed to whole words, sentences or lines
    #[arg(
        long, value_name = "BORDERS", default_value = "word",
        value_parser = values::named(&SNAPS), help_heading = "Decision"
    )]
    pub snap: Snap,

    #[command(flatten)]
    pub action: ActionArgs,

    /// The most passages in repeated.jsonl
    #[arg(
        long, value_name = "COUNT", default_value_t = 1000,
        value_parser = number::within(1, 10_000), help_heading = "Output"
    )]
    pub list: usize,

    #[command(flatten)]
    pub output: OutputArgs,
}

const SNAPS: [Named<Snap>; 4] = [
    ("word", "Do not cut through words", Snap::Word),
    ("sentence", "Only whole sentences go", Snap::Sentence),
    ("line", "Only whole lines go", Snap::Line),
    ("none", "Do not cut through characters", Snap::None),
];

const EXAMPLES: &str = "\
Examples:
  simtool spans crawl/*.jsonl.zst -o out
          Stretches of at least 50 words that occur earlier: out/spans.jsonl, out/repeated.jsonl, and
          for people out/page.html; no input changes
  simtool spans crawl/*.jsonl.zst -o out --snap sentence --action cut --min-words 20
          Without the whole sentences in such stretches, and without documents of which fewer than 20
          words remain, in out/cut
  simtool spans crawl/*.jsonl.zst -o out --min 500b --action cut
          The same by bytes
  simtool spans new/*.jsonl -o out --against old/*.jsonl --action drop-document:0.8
          Without the documents that repeat 80 % of their text

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command resumes.";

/// Parses the value of --min; the message is for clap.
fn least(text: &str) -> Result<Least, String> {
    Least::parse(text).map_err(|error| error.to_string())
}
